package misplaced

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/internal/lazyregexp"
)

// tokens are what begins tokens that say themselves what they are, each with the form of what follows. A word's end is before them.
var tokens = [][2]string{
	// GitHub, GitLab, Slack, Stripe, npm, PyPI, Docker, Vault, Google, SendGrid, Shopify, Atlassian.
	{"ghp_", `[A-Za-z0-9]{10}`}, {"gho_", `[A-Za-z0-9]{10}`}, {"ghu_", `[A-Za-z0-9]{10}`}, {"ghr_", `[A-Za-z0-9]{10}`}, {"ghs_", `[A-Za-z0-9]{10}`}, {"github_pat_", `[A-Za-z0-9_]{10}`},
	{"glpat-", `[A-Za-z0-9_-]{10}`}, {"gldt-", `[A-Za-z0-9_-]{10}`}, {"glrt-", `[A-Za-z0-9_-]{10}`}, {"glcbt-", `[A-Za-z0-9_-]{10}`}, {"glptt-", `[A-Za-z0-9_-]{10}`},
	{"glsoat-", `[A-Za-z0-9_-]{10}`}, {"glft-", `[A-Za-z0-9_-]{10}`}, {"glagent-", `[A-Za-z0-9_-]{10}`}, {"xox", `[a-z]-[A-Za-z0-9-]{8}`}, {"xapp-", `[0-9]-[A-Za-z0-9]`},
	{"sk_live_", `[A-Za-z0-9]{8}`}, {"sk_test_", `[A-Za-z0-9]{8}`}, {"rk_live_", `[A-Za-z0-9]{8}`}, {"rk_test_", `[A-Za-z0-9]{8}`}, {"whsec_", `(?:(?:live|test)_[A-Za-z0-9]{8}|[A-Za-z0-9]{10})`},
	{"npm_", `[A-Za-z0-9]{30}`}, {"pypi-", `[A-Za-z0-9_-]{30}`}, {"dckr_pat_", `[A-Za-z0-9_-]{10}`}, {"dckr_oat_", `[A-Za-z0-9_-]{10}`}, {"hvs.", `[A-Za-z0-9_-]{10}`}, {"hvb.", `[A-Za-z0-9_-]{10}`},
	{"hvr.", `[A-Za-z0-9_-]{10}`}, {"AIza", `[A-Za-z0-9_-]{30}`}, {"ya29.", `[A-Za-z0-9_-]{20}`}, {"GOCSPX-", `[A-Za-z0-9_-]{20}`}, {"SG.", `[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10}`},
	{"shpat_", `[A-Fa-f0-9]{10}`}, {"shpca_", `[A-Fa-f0-9]{10}`}, {"shppa_", `[A-Fa-f0-9]{10}`}, {"shpss_", `[A-Fa-f0-9]{10}`}, {"ATATT3", `[A-Za-z0-9_=-]{10}`},
	// Services for language models.
	{"sk-", `(?:[A-Za-z0-9]{20}|(?:ant|proj|or|svcacct|admin)-[A-Za-z0-9_-]{10})`}, {"xai-", `[A-Za-z0-9]{20}`}, {"pplx-", `[A-Za-z0-9]{20}`}, {"gsk_", `[A-Za-z0-9]{40}`}, {"r8_", `[A-Za-z0-9]{30}`},
	{"nvapi-", `[A-Za-z0-9_-]{30}`}, {"hf_", `[A-Za-z0-9]{30}`}, {"api_org_", `[A-Za-z0-9]{30}`},
	// AWS, DigitalOcean, Linear, Figma, Grafana, Databricks, RubyGems, Pulumi, Sentry, Tailscale, Terraform, Notion, Brevo, Postman, 1Password, Doppler, PlanetScale, Supabase, New Relic.
	{"AKIA", `[A-Z0-9]{12}`}, {"ASIA", `[A-Z0-9]{12}`}, {"dop_v1_", `[a-f0-9]{40}`}, {"doo_v1_", `[a-f0-9]{40}`}, {"dor_v1_", `[a-f0-9]{40}`}, {"lin_api_", `[A-Za-z0-9]{30}`},
	{"lin_oauth_", `[A-Za-z0-9]{30}`}, {"figd_", `[A-Za-z0-9_-]{20}`}, {"glsa_", `[A-Za-z0-9+/]{20}`}, {"glc_", `[A-Za-z0-9+/]{20}`}, {"dapi", `[a-f0-9]{32}`}, {"rubygems_", `[a-f0-9]{32}`},
	{"pul-", `[a-f0-9]{40}`}, {"sntrys_", `[A-Za-z0-9+/=_-]{20}`}, {"sntryu_", `[A-Za-z0-9+/=_-]{20}`}, {"tskey-", `[A-Za-z0-9-]{12}`}, {"atlasv1.", `[A-Za-z0-9_=-]{20}`}, {"ntn_", `[A-Za-z0-9]{30}`},
	{"secret_", `[A-Za-z0-9]{43}`}, {"xkeysib-", `[a-f0-9]{32}`}, {"xsmtpsib-", `[a-f0-9]{32}`}, {"PMAK-", `[a-f0-9]{20}`}, {"ops_eyJ", `[A-Za-z0-9_-]{20}`},
	{"dp.", `(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9._-]{30}`}, {"pscale_", `(?:tkn|pw|oauth)_[A-Za-z0-9._=-]{20}`}, {"sbp_", `[a-f0-9]{40}`}, {"NRAK-", `[A-Z0-9]{20}`},
	// SonarQube, CircleCI, Buildkite, Snyk, Fly, Heroku, Artifactory, Dynatrace, Mapbox, Contentful.
	{"squ_", `[a-f0-9]{20}`}, {"sqp_", `[a-f0-9]{20}`}, {"sqa_", `[a-f0-9]{20}`}, {"CCIPAT_", `[A-Za-z0-9_]{20}`}, {"bkua_", `[a-f0-9]{20}`}, {"snyk_uat.", `[A-Za-z0-9._-]{8}`},
	{"FlyV1 fm", `[0-9][a-z]?_[A-Za-z0-9+/=]{8}`}, {"fm2_", `[A-Za-z0-9+/=]{20}`}, {"HRKU-", `[A-Za-z0-9_-]{20}`}, {"AKCp", `[A-Za-z0-9]{20}`}, {"dt0", `[a-z][0-9]{2}\.[A-Z0-9]{16}`},
	{"sk.eyJ", `[A-Za-z0-9_-]{10}`}, {"CFPAT-", `[A-Za-z0-9_-]{20}`},
}

// known is any of the tokens.
var known = sync.OnceValue(func() *lazyregexp.Regexp {
	var of []string
	for _, token := range tokens {
		of = append(of, regexp.QuoteMeta(token[0])+token[1])
	}
	return lazyregexp.New(`\b(?:` + strings.Join(of, "|") + `)`)
})

// shaped are tokens without such a beginning, each with a part that all of them have: Telegram's, Mailgun's, Entra's.
var shaped = []struct {
	part string
	form *lazyregexp.Regexp
}{
	{":AA", lazyregexp.New(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`)},
	{"key-", lazyregexp.New(`(?:^|[^\w.-])key-[0-9a-f]{32}(?:$|[^\w.-])`)},
	{"Q~", lazyregexp.New(`(?:^|[^\w~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?:$|[^\w~.-])`)},
}

// seedLength is how long a seed of NATS is.
const seedLength = 58

// Token reports whether a text has a token in it that says by its form what it is, or a seed of NATS.
func Token(text string) bool {
	for _, s := range shaped {
		if strings.Contains(text, s.part) && s.form.MatchString(text) {
			return true
		}
	}
	return slices.ContainsFunc(tokens, func(t [2]string) bool { return strings.Contains(text, t[0]) }) && known().MatchString(text) || seed(text)
}

// seed reports whether a word of a text is a seed of NATS: S, what it is of, and base32.
func seed(text string) bool {
	from := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] >= 'A' && text[i] <= 'Z' || text[i] >= '2' && text[i] <= '7') {
			continue
		}
		if i-from == seedLength && text[from] == 'S' && strings.IndexByte("UAONCXP", text[from+1]) >= 0 && (from == 0 || !inWord(text[from-1])) && (i == len(text) || !inWord(text[i])) {
			return true
		}
		from = i + 1
	}
	return false
}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

package fleet

import (
	"net/url"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/redact"
)

// secretWords are the words that make the name of an environment variable a secret's.
var secretWords = []string{
	"PASS", "PAT", "PATS", "PASSWD", "PASSWORD", "PASSPHRASE", "PWD", "SECRET", "SECRETS", "TOKEN", "TOKENS", "KEY", "APIKEY", "KEYS",
	"CREDENTIAL", "CREDENTIALS", "CRED", "CREDS", "PRIVATE", "AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "CERT", "PEM", "PFX", "PSK",
	"SALT", "HMAC", "DSN", "DSNS", "WEBHOOK", "LICENSE", "JWT", "JWTS", "SAS", "OTP", "TOTP", "PIN", "PINS", "CONNSTR", "HTPASSWD", "NETRC",
	"PW", "PASSWORT", "SEED",
}

// secretPairs are two words, one behind the other, that do the same.
var secretPairs = []string{"CONNECTION_STRING", "CONNECTION_STRINGS", "CONN_STRING", "CONN_STR"}

// secretEnds are the ends of words that do the same, one or many: SSHPASS, PGPASSWORD, GITHUBTOKENS.
var secretEnds = []string{"PASS", "PASSWD", "PASSWORD", "PASSWORT", "PASSPHRASE", "SECRET", "TOKEN", "APIKEY", "SECRETKEY", "ACCESSKEY", "PRIVATEKEY",
	"CONNECTIONSTRING", "CONNECTIONSTRINGS"}

// SecretVar reports whether a variable is a secret: by its name, or by the form of its value.
func SecretVar(name, value string) bool { return SecretName(name) || secretForm(value) }

// PlainVars are the variables of an environment that are used and are no secrets, by name.
func PlainVars(env map[string]string, uses func(name string) bool) map[string]string {
	out := map[string]string{}
	for name, value := range env {
		if uses(name) && !SecretVar(name, value) {
			out[name] = value
		}
	}
	return out
}

// longestEncoded is how often a text may be encoded, one around the other, that is looked into.
const longestEncoded = 4

// secretForm reports whether a text is a secret by its form, also in base64.
func secretForm(text string) bool {
	for range longestEncoded {
		text = strings.TrimSpace(text)
		if secretURL(text) || redact.Authenticates(text) || dsn(text) || redact.Names(text) ||
			slices.ContainsFunc(secretForms, func(f *lazyregexp.Regexp) bool { return f.MatchString(text) }) {
			return true
		}
		decoded, encoded := redact.Decoded(text)
		if !encoded {
			return false
		}
		text = decoded
	}
	return false
}

// SecretName reports whether a variable's name says that its value is a secret: one of its words (parted by '_', '-'
// or '.'), or two of them, are known ones, whatever number or version stands behind them (TOKEN2, KEYV2). The shell's own PWD and OLDPWD are not.
func SecretName(name string) bool {
	upper := strings.ToUpper(name)
	if upper == "PWD" || upper == "OLDPWD" {
		return false
	}
	upper = strings.NewReplacer("COMPASS", "", "BYPASS", "").Replace(upper)
	before := ""
	for _, word := range strings.FieldsFunc(upper, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if plain := strings.TrimRight(word, "0123456789"); plain != word && plain != "" {
			word = plain
			if secretWord(before, strings.TrimSuffix(word, "V")) {
				return true
			}
		}
		if secretWord(before, word) {
			return true
		}
		before = word
	}
	return false
}

// secretWord reports whether a word in capitals, with the one before it, says that something is a secret.
func secretWord(before, word string) bool {
	return slices.Contains(secretWords, word) || slices.Contains(secretPairs, before+"_"+word) ||
		slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(word, end) || strings.HasSuffix(word, end+"S") })
}

// secretURL reports whether a text is a URL with a password, or over HTTP with a user at all: that is a token.
func secretURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.User == nil || u.Host == "" {
		return false
	}
	password, _ := u.User.Password()
	return password != "" || strings.HasPrefix(u.Scheme, "http") && u.User.Username() != ""
}

// secretForms are what is secret whatever it is called.
var secretForms = []*lazyregexp.Regexp{
	// A user's password in an address, also of several hosts, and in one that has another before it: postgres://u:p@a,b/db,
	// jdbc:mysql://u:p@db/x.
	lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:]*:[^\s/?#@]+@`),
	// PEM, also with its lines written as \n, and in base64; a key of age.
	lazyregexp.New(`-----BEGIN [A-Z0-9 ]+-----|^LS0tLS1CRUdJTi|AGE-SECRET-KEY-1`),
	// JSON Web Tokens and what they are encrypted to: three or five parts, of which the first is a JSON object in base64.
	lazyregexp.New(`(?:^|[\s:="',;])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*`),
	// A header: Bearer TOKEN, Basic BASE64.
	lazyregexp.New(`(?i)^(?:authorization: *)?(?:bearer|basic) [A-Za-z0-9+/=._~-]{6,}$`),
	// A list of KEY=VALUE: ADO.NET, libpq, JDBC, storage accounts, what signs an address. Those of whole addresses are known to redact.
	lazyregexp.New(`(?i)(?:^|[;&?,\s])(?:password|passwd|pwd|secret|accountkey|sharedaccesskey|sharedaccesssignature|sig|access_token) *= *[^;&,\s]`),
	// Tokens that say themselves what they are: of GitHub, GitLab, Slack, Stripe, npm, PyPI, Docker, Vault, Google, SendGrid, Shopify, Atlassian,
	// and of services for language models; AWS's keys.
	lazyregexp.New(`\b(?:gh[pousr]_[A-Za-z0-9]{10}|github_pat_[A-Za-z0-9_]{10}|gl(?:pat|dt|rt|cbt|ptt|soat|ft|agent)-[A-Za-z0-9_-]{10}|xox[a-z]-[A-Za-z0-9-]{8}|xapp-[0-9]-[A-Za-z0-9]|` +
		`(?:[sr]k|whsec)_(?:live|test)_[A-Za-z0-9]{8}|whsec_[A-Za-z0-9]{10}|npm_[A-Za-z0-9]{30}|pypi-[A-Za-z0-9_-]{30}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{10}|hv[sbr]\.[A-Za-z0-9_-]{10}|` +
		`AIza[A-Za-z0-9_-]{30}|SG\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{10}|ATATT3[A-Za-z0-9_=-]{10}|sk-[A-Za-z0-9]{20}|sk-(?:ant|proj|or)-[A-Za-z0-9_-]{10}|` +
		`A(?:KI|SI)A[A-Z0-9]{12})`),
	// Addresses of webhooks, which let anybody write who knows them.
	lazyregexp.New(`(?i)\bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[^\s]|\bdiscord(?:app)?\.com/api/webhooks/[^\s]|\.webhook\.office\.com/[^\s]|\bapi\.telegram\.org/bot[0-9]`),
}

// dsnForm is an address without a scheme: user:pw@tcp(db:3306)/shop, user:pw@db:5432, user:pw@db/shop.
var dsnForm = lazyregexp.New(`^([^\s:/@]*):([^\s/@]\S*)@(?:[a-z0-9+]*\([^()\s]*\)|[\w.-]+:[0-9]{1,5}(?:[/?]|$)|[\w.-]*/)`)

// noDSN are what stands before the colon of other addresses that have an @.
var noDSN = []string{"mailto", "sip", "sips", "acct", "pkg", "npm"}

func dsn(text string) bool {
	parts := dsnForm.FindStringSubmatch(text)
	return parts != nil && !slices.Contains(noDSN, strings.ToLower(parts[1]))
}

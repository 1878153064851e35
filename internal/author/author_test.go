package author

import (
	"strings"
	"testing"
)

// TestActing: who acts as somebody else is said beside the name that the clusters know.
func TestActing(t *testing.T) {
	for _, c := range [][3]string{{"", "bob@laptop", "bob@laptop"}, {"alice", "bob@laptop", "alice (as started by bob@laptop)"},
		{"system:serviceaccount:ci:shop", "ada@h (GitHub Actions)", "system:serviceaccount:ci:shop (as started by ada@h (GitHub Actions))"},
		{"alice\n::error::x", "bob", "alice ::error::x (as started by bob)"}, {" \n", "bob", "bob"}} {
		if got := Acting(c[0], c[1]); got != c[2] {
			t.Errorf("%q: %q, want %q", c[:2], got, c[2])
		}
	}
}

// TestOf: whoever acts has a name where there is one: by HAWSER_AUTHOR, the CI job, USER or the account; and it is said
// from where.
func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		env           map[string]string
		account, host string
		want          string
	}{
		"a shell":                 {map[string]string{"USER": "ada"}, "ada", "laptop", "ada@laptop"},
		"a container":             {nil, "root", "6f1c", "root@6f1c"},
		"cron":                    {map[string]string{"LOGNAME": "deploy"}, "root", "box", "deploy@box"},
		"a number without a name": {nil, "", "6f1c", "unknown@6f1c"},
		"no host":                 {nil, "root", "", "root"},
		"said":                    {map[string]string{"HAWSER_AUTHOR": "release bot", "USER": "ada", "GITHUB_ACTIONS": "true"}, "ada", "laptop", "release bot"},
		"GitHub": {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_ACTOR": "octocat", "GITHUB_JOB": "deploy", "GITHUB_SERVER_URL": "https://github.com",
			"GITHUB_REPOSITORY": "acme/shop", "GITHUB_RUN_ID": "42", "USER": "runner"}, "runner", "fv-az1", "octocat@fv-az1 (GitHub Actions job deploy, https://github.com/acme/shop/actions/runs/42)"},
		"GitHub, run again by another": {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_ACTOR": "octocat", "GITHUB_TRIGGERING_ACTOR": "ada"}, "", "h", "ada@h (GitHub Actions)"},
		"GitLab": {map[string]string{"GITLAB_CI": "true", "GITLAB_USER_LOGIN": "ada", "CI_JOB_NAME": "deploy", "CI_JOB_URL": "https://gitlab.example.com/acme/shop/-/jobs/7"},
			"root", "runner-1", "ada@runner-1 (GitLab CI job deploy, https://gitlab.example.com/acme/shop/-/jobs/7)"},
		"Jenkins without its user plug-in": {map[string]string{"JENKINS_URL": "https://ci/", "JOB_NAME": "shop", "BUILD_URL": "https://ci/job/shop/3/"}, "jenkins", "agent", "jenkins@agent (Jenkins job shop, https://ci/job/shop/3/)"},
		"Azure": {map[string]string{"TF_BUILD": "True", "BUILD_REQUESTEDFOR": "Ada L", "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI": "https://dev.azure.com/acme/",
			"SYSTEM_TEAMPROJECT": "My Shop", "BUILD_BUILDID": "9"}, "", "vm", "Ada L@vm (Azure Pipelines, https://dev.azure.com/acme/My%20Shop/_build/results?buildId=9)"},
		"an address with a password": {map[string]string{"JENKINS_URL": "x", "BUILD_URL": "https://u:p4ss@ci/job/1"}, "j", "", "j (Jenkins, https://ci/job/1)"},
		"no address":                 {map[string]string{"JENKINS_URL": "x", "BUILD_URL": "javascript:alert(1)"}, "j", "", "j (Jenkins)"},
		"several lines":              {map[string]string{"USER": "ada\n::error::x"}, "", "h", "ada ::error::x@h"},
	} {
		if got := Of(func(name string) string { return c.env[name] }, c.account, c.host); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := Of(func(string) string { return strings.Repeat("x", 5000) }, "", ""); len(got) > maxText {
		t.Errorf("%d characters", len(got))
	}
	if got := Here(func(string) string { return "" }); got == "" || strings.HasPrefix(got, "unknown@") {
		t.Errorf("this process has no author: %q", got)
	}
}

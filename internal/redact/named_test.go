package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestNamedPasswords: what a configuration calls a password by its name or place is hidden about the instance that takes the
// configuration, also where it is a word, short, or full of what separates elsewhere; what others say stays.
func TestNamedPasswords(t *testing.T) {
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, pw := range []string{"correcthorse", "hunter2", "s3cret", "Letmein", "pa55-word", "p@ss:w/rd=9", "4711"} {
		for name, secret := range map[string]string{
			".netrc":          "machine git.example login app password " + pw + "\n",
			".netrc in lines": "machine git.example\n  login app\n  password " + pw + "\n",
			".pgpass":         "db:5432:shop:app:" + pw + "\nother:*:shop:app:x\n",
			"storage":         "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=" + pw + ";EndpointSuffix=core.windows.net",
			"service bus":     "Endpoint=sb://x.example/;SharedAccessKeyName=Root;SharedAccessKey=" + pw,
			"ADO":             "Server=db;User Id=sa;Password=" + pw + ";",
			"libpq":           "host=db user=app password=" + pw + " dbname=shop",
			"JDBC":            "jdbc:postgresql://db/shop?user=app&password=" + pw + "&ssl=true",
			"DSN":             "root:" + pw + "@tcp(db:3306)/app",
			"address":         "postgres://root:" + pw + "@db/app",
			"seed list":       "mongodb+srv://app:" + pw + "@c.example/?retryWrites=true",
			"KEY=value":       "HOST=db\nPASSWORD=" + pw + "\n",
			"exported":        "export DB_PASSWORD='" + pw + "'\n",
			"INI":             "[client]\nuser = x\npassword = " + pw + "\n",
			"TOML":            "[db]\npassword = \"" + pw + "\"\n",
			"YAML":            "db:\n  password: " + pw + "\n",
			"JSON":            `{"db":{"password":"` + pw + `"}}`,
			"JSON in JSON":    `{"a":"{\"password\":\"` + pw + `\"}"}`,
			"JSON in base64":  b64(`{"apiKey":"` + pw + `"}`),
			"properties":      "db.user=x\ndb.password=" + pw + "\n",
			"XML":             `<user name="a" password="` + pw + `"/>`,
			"JAAS":            `x.ScramLoginModule required username="app" password="` + pw + `";`,
			"a list":          "r:6379,password=" + pw + ",ssl=True",
			"a query":         "password=" + strings.NewReplacer("@", "%40", ":", "%3A", "/", "%2F", "=", "%3D").Replace(pw) + "&user=x",
			".npmrc":          "//registry.example/:_authToken=" + pw + "\n",
			"a header":        "Authorization: Bearer " + pw,
			"curl":            "curl -u admin:" + pw + " https://x.example",
			"PEM's":           "passphrase: " + pw,
			"base64":          b64("password=" + pw + "\n"),
		} {
			r := &Redactor{}
			r.AddFor("web", secret)
			if got := r.Value("web", pw); got != Mask {
				t.Errorf("%s: %q as a field: %s", name, pw, got)
			}
			if got := r.Said("web", `refused: "`+pw+`"`); strings.Contains(got, pw) {
				t.Errorf("%s: %q said: %s", name, pw, got)
			}
			if strengthOf(pw) == common {
				if got := r.Value("other", pw); got != pw {
					t.Errorf("%s: %q hides %q of others", name, pw, got)
				}
			}
			const ours = "Deployment web: not ready, password is wrong, 3 of 5 replicas, image nginx:1.27, host db"
			if got := r.Said("web", ours); got != ours {
				t.Errorf("%s: %q makes %s", name, pw, got)
			}
		}
	}
	for _, secret := range []string{"password: true", "token=null", "pass=no", "secret:", "password=", `{"token": ""}`} {
		if got := passwords(secret); len(got) > 0 {
			t.Errorf("%q has the passwords %q", secret, got)
		}
	}
}

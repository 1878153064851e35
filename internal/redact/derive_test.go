package redact

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestDerivations: what ordinary templates take out of a value is hidden as well.
func TestDerivations(t *testing.T) {
	auth := base64.StdEncoding.EncodeToString([]byte("robot:c4nary-pass"))
	for name, c := range map[string]struct{ secret, said string }{
		"decoded":          {base64.StdEncoding.EncodeToString([]byte("c4nary-pass")), "is c4nary-pass"},
		"decoded twice":    {base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("c4nary-pass")))), "is c4nary-pass"},
		"without a scheme": {"root:c4nary-pass@tcp(db:3306)/app", "password c4nary-pass"},
		"lines":            {"HOST=db\nexport PASSWORD=\"c4nary-pass\"\n", "PASSWORD is c4nary-pass"},
		"a list":           {"c4nary-one,c4nary-two", "c4nary-two is wrong"},
		"docker":           {`{"auths":{"r.example":{"auth":"` + auth + `"}}}`, "password c4nary-pass"},
		"docker's auth":    {auth, "password c4nary-pass"},
		"docker encoded":   {base64.StdEncoding.EncodeToString([]byte(`{"auths":{"r":{"password":"c4nary-pass"}}}`)), "password c4nary-pass"},
	} {
		if got := New(c.secret).Value("", c.said); strings.Contains(got, "c4nary") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, value := range []string{"true", "password", "a,b,c", "plainword", "db-main"} {
		if got := New(value).Value("", "host db, port 3306, image nginx:1.2"); got != "host db, port 3306, image nginx:1.2" {
			t.Errorf("%s hides %s", value, got)
		}
	}
}

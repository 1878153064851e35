package misplaced

import (
	"encoding/base64"
	"strings"
	"testing"
)

const config = "apiVersion: v1\nclusters: []\nusers: [{name: u, user: {token: t0k3n}}]\n"

// Content is known in the forms in which people have it in a variable; paths are none.
func TestContent(t *testing.T) {
	for _, text := range []string{config, "apiVersion: v1", "  {\"clusters\": []}", base64.StdEncoding.EncodeToString([]byte(config)), base64.RawURLEncoding.EncodeToString([]byte(config)),
		"AGE-SECRET-KEY-1QQQ", "age-secret-key-1qqq", "-----BEGIN PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", strings.Repeat("x", 4096), "a\nb"} {
		if !Content(text) || !Value(text) {
			t.Errorf("%.40q is taken for a path or a variable", text)
		}
	}
	for _, path := range []string{"", "kube/config", "/home/ada/.kube/config:/etc/clusters:/x", "My Private Key", "~/.kube/config", `C:\Users\ada\config`, "/dev/fd/63", "shop.kubeconfig.yaml",
		"/tmp/TestKubeconfigOfSomethingThatIsVeryLongIndeed123456/001/config", strings.Repeat("d/", 2000)} {
		if Content(path) {
			t.Errorf("%.40q is taken for content", path)
		}
	}
	for name, want := range map[string]bool{"AGE_KEY": false, "key2": false, "AGE-KEY": true, "a b": true, "": true} {
		if Value(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

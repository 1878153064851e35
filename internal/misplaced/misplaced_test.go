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
		"AGE-SECRET-KEY-1QQQ", "age-secret-key-1qqq", "-----BEGIN PRIVATE KEY-----", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", strings.Repeat("x", 4096), "a\nb",
		"token: PW", "users: [{name: u, user: {token: PW}}]", "password: hunter2", "client-secret: hunter2", "export GITHUB_TOKEN=hunter2", "db_password=hunter2", `"token": "PW"`, "MHcCAQEEIB0h1x2y3z", "MIIEvQIBADANBg",
		"MIIEowIBAAKCAQEA0h", "MIGHAgEAMBMGByqG", "MC4CAQAwBQYDK2VwBCIE", "b3BlbnNzaC1rZXktdjEAAAAA", "H4sIAAAAAAAAA0vLz1dISixSqAUAI", "age-plugin-yubikey-1qvps5yqxx", "AGE-PLUGIN-YUBIKEY-1QVPS",
		base64.StdEncoding.EncodeToString(append([]byte{0x30, 0x2a}, strings.Repeat("\xff\x01", 21)...)), "ghp_Zq12345678901234", "/etc/x/GOCSPX-abcdefghijklmnopqrstuv", "glpat-abcdefghij1234567890"} {
		if !Content(text) || !Value(text) {
			t.Errorf("%.40q is taken for a path or a variable", text)
		}
	}
	for _, path := range []string{"", "kube/config", "/home/ada/.kube/config:/etc/clusters:/x", "My Private Key", "~/.kube/config", `C:\Users\ada\config`, "/dev/fd/63", "shop.kubeconfig.yaml", "/usr/bin/age-plugin-yubikey", "age-plugin-se-1.2.3", "token", "tokens/prod", "secret.yaml", "my-token.txt", "password-file", "/var/run/secrets/token", "MII", "Makefile", "H4",
		"MIGRATIONS/2026/one", "/etc/ssl/MHcCA.pem", "env=prod/kubeconfig", "C:/Users/x", "users.yaml", "clusters/prod", "key-1.json",
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

// File tells content from paths, and quotes nothing of it.
func TestFile(t *testing.T) {
	if err := File("KUBECONFIG", "a kubeconfig", "/home/ada/.kube/config"); err != nil {
		t.Error(err)
	}
	if err := File("KUBECONFIG", "a kubeconfig", "token: PW"); err == nil || !strings.Contains(err.Error(), "KUBECONFIG holds the content of a kubeconfig") || strings.Contains(err.Error(), "PW") {
		t.Errorf("%v", err)
	}
}

// Path is Content behind a directory, too.
func TestPath(t *testing.T) {
	pem := base64.StdEncoding.EncodeToString([]byte("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEI????>>>/+/\n"))
	for _, content := range []string{pem, "MHcCAQEEIQ+/abc", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "token: hunter2", "ghp_Zq12345678901234", "MIGHAgEAMBMGByqGSM49/AgEGCCqGSM49"} {
		for _, dir := range []string{"", "/home/ada/.kube/", "q/", "C:\\Users\\ada\\"} {
			if !Path(dir + content) {
				t.Errorf("%s%.30s is a path", dir, content)
			}
		}
	}
	for _, path := range []string{"", "/", "/home/ada/.kube/config", "certs/client-key.pem", "/etc/ssl/client-key-data/key", "a//b/", "/home/ada/My Keys/ca.crt", "/var/run/secrets/kubernetes.io/serviceaccount/token"} {
		if Path(path) {
			t.Errorf("%s is content", path)
		}
	}
}

package kubeapi

import (
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

const overridden = `apiVersion: v1
kind: Config
current-context: a
clusters: [{name: c, cluster: {server: "https://one.example", certificate-authority-data: Zm9v, tls-server-name: one}}]
users: [{name: u, user: {client-certificate-data: Y2VydA==, client-key-data: a2V5, username: me, password: p}}]
contexts: [{name: a, context: {cluster: c, user: u}}]
`

// TestOverrideReplaces: what a flag replaces is gone whole: no certificate beside a token, no data beside a file.
func TestOverrideReplaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(overridden), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := restConfig(Config{Access: fleet.Access{KubeconfigPaths: []string{file}, Context: "a", Impersonate: "bob", Override: fleet.Override{
		Server: "https://two.example", Token: "t0ken", CertificateAuthority: file, TLSServerName: "two", AsUID: "42"}}})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case cfg.Host != "https://two.example", cfg.BearerToken != "t0ken", cfg.ServerName != "two":
		t.Errorf("host %s, token %q, name %s", cfg.Host, cfg.BearerToken, cfg.ServerName)
	case len(cfg.CertData) > 0, len(cfg.KeyData) > 0, cfg.Username != "", cfg.Password != "":
		t.Error("the kubeconfig's credentials are still there")
	case cfg.CAFile != file, len(cfg.CAData) > 0:
		t.Errorf("authority %q, data %q", cfg.CAFile, cfg.CAData)
	case cfg.Impersonate.UID != "42", cfg.Impersonate.UserName != "bob":
		t.Errorf("as %+v", cfg.Impersonate)
	}
	cfg, err = restConfig(Config{Access: fleet.Access{Override: fleet.Override{Server: "https://two.example", Token: "t0ken", InsecureSkipTLSVerify: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != "https://two.example" || cfg.BearerToken != "t0ken" || !cfg.Insecure {
		t.Errorf("without a kubeconfig: host %s, token %q, insecure %v", cfg.Host, cfg.BearerToken, cfg.Insecure)
	}
	cfg, err = restConfig(Config{Access: fleet.Access{KubeconfigPaths: []string{file}, Context: "a"}})
	if err != nil || string(cfg.CertData) != "cert" || cfg.Host != "https://one.example" {
		t.Errorf("without flags: %v, %+v", err, cfg)
	}
}

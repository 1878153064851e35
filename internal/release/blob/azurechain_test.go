//go:build unix

package blob

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"hawser.dev/hawser/internal/testbucket"
)

// azurePrograms makes scripts of programs that Azure's chain runs, alone in PATH before the system's own; %s stands for their directory.
func azurePrograms(t *testing.T, chosen string, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+strings.ReplaceAll(text, "%s", dir)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("AZURE_TOKEN_CREDENTIALS", chosen)
	t.Setenv("AZURE_ADDITIONALLY_ALLOWED_TENANTS", "")
	return dir
}

// TestAzureProgramThatHangs: what az, azd and PowerShell have started goes with them when the time of a request is over.
func TestAzureProgramThatHangs(t *testing.T) {
	for name, program := range map[string]string{"AzureCLICredential": "az", "AzureDeveloperCLICredential": "azd", "azurepowershellcredential": "pwsh"} {
		dir := azurePrograms(t, name, map[string]string{program: "sleep 1000 &\necho $! > '%s/pid'\nwait\n"})
		o := AzureOptions{Account: testbucket.Account, Container: testbucket.Bucket, Server: quick}
		o.Attempt = 300 * time.Millisecond
		if err := openAzure(t, o).Create(t.Context(), "a", nil); err == nil || !strings.Contains(err.Error(), "no answer within") {
			t.Errorf("%s: %v", name, err)
		}
		gone(t, name, dir)
	}
}

// TestAzurePrograms: the tokens of az, azd and PowerShell are taken, in this order; what is wrong is told without what was printed. They do
// not begin in the current directory.
func TestAzurePrograms(t *testing.T) {
	const until = "2099-01-02 03:04:05.000000"
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	apart := `[ "$(pwd)" = '` + here + `' ] && exit 9; `
	for name, c := range map[string]struct {
		chosen  string
		scripts map[string]string
		options policy.TokenRequestOptions
		want    string // the token, or what the error says
		bad     bool
	}{
		"az":          {"AzureCLICredential", map[string]string{"az": apart + `[ "$*" = 'account get-access-token -o json --resource https://storage.azure.com' ] && echo '{"accessToken": "T1", "expiresOn": "x", "expires_on": 4070908800}'`}, policy.TokenRequestOptions{}, "T1", false},
		"an old az":   {"dev", map[string]string{"az": apart + `[ "$*" = 'account get-access-token -o json --resource https://storage.azure.com --tenant t.example' ] && echo '{"accessToken": "T2", "expiresOn": "` + until + `"}'`}, policy.TokenRequestOptions{TenantID: "t.example"}, "T2", false},
		"azd":         {"dev", map[string]string{"azd": apart + `[ "$*" = 'auth token -o json --no-prompt --scope https://storage.azure.com/.default' ] && echo '{"token": "T3", "expiresOn": "2099-01-02T03:04:05Z"}'`, "az": "echo Please run az login >&2; exit 1"}, policy.TokenRequestOptions{}, "T3", false},
		"PowerShell":  {"dev", map[string]string{"pwsh": apart + `case "$*" in *"-ResourceUrl 'https://storage.azure.com'"*) echo '{"Token": "T4", "ExpiresOn": 4070908800}';; esac`}, policy.TokenRequestOptions{}, "T4", false},
		"by default":  {"", map[string]string{"az": `echo '{"accessToken": "T5", "expires_on": 4070908800}'`}, policy.TokenRequestOptions{}, "T5", false},
		"none":        {"dev", nil, policy.TokenRequestOptions{}, "az is not installed", true},
		"fails":       {"AzureCLICredential", map[string]string{"az": "echo canary; echo Please run az login >&2; exit 1"}, policy.TokenRequestOptions{}, "Please run az login", true},
		"no token":    {"AzureCLICredential", map[string]string{"az": `echo '{"accessToken": "canary"}'`}, policy.TokenRequestOptions{}, "az: it printed no token with a time", true},
		"endless":     {"AzureCLICredential", map[string]string{"az": "yes canary"}, policy.TokenRequestOptions{}, "az failed", true},
		"a flag":      {"AzureCLICredential", map[string]string{"az": `echo '{"accessToken": "canary", "expires_on": 4070908800}'`}, policy.TokenRequestOptions{TenantID: "--debug"}, "something that is none", true},
		"more is due": {"AzureCLICredential", map[string]string{"az": `echo '{"accessToken": "canary", "expires_on": 4070908800}'`}, policy.TokenRequestOptions{Claims: "{}"}, "log in again", true},
		"nonsense":    {"AzureCIL", nil, policy.TokenRequestOptions{}, "AZURE_TOKEN_CREDENTIALS", true},
	} {
		t.Run(name, func(t *testing.T) {
			azurePrograms(t, c.chosen, c.scripts)
			if c.chosen == "" {
				if err := os.Unsetenv("AZURE_TOKEN_CREDENTIALS"); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT", "MSI_ENDPOINT"} {
					t.Setenv(name, "")
				}
			}
			c.options.Scopes = []string{"https://storage.azure.com/.default"}
			nothing := newTransport(nil)
			nothing.RoundTripper = unreachable{}
			chain, err := newAzureChain(azcore.ClientOptions{Transport: nothing, Retry: policy.RetryOptions{MaxRetries: -1}}, nothing)
			var got azcore.AccessToken
			if err == nil {
				got, err = chain.GetToken(t.Context(), c.options)
			}
			switch {
			case c.bad && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary")):
				t.Errorf("%v", err)
			case !c.bad && (err != nil || got.Token != c.want || time.Until(got.ExpiresOn) < time.Hour):
				t.Errorf("%v %v", got, err)
			}
		})
	}
}

// unreachable is a network in which nobody answers.
type unreachable struct{}

// RoundTrip fails.
func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody answers")
}

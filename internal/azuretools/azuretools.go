package azuretools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/lazyregexp"
)

// maxTool bounds what such a program may print, maxToolSay how much of what it says to people is repeated.
const (
	maxTool    = 1 << 20
	maxToolSay = 4 << 10
)

// All are the programs, by what AZURE_TOKEN_CREDENTIALS calls them, in the chain's order.
var All = []Tool{
	{"AzureCLICredential", func(scope, tenant string) []string {
		return with([]string{"az", "account", "get-access-token", "-o", "json", "--resource", strings.TrimSuffix(scope, "/.default")}, "--tenant", tenant)
	}},
	{"AzureDeveloperCLICredential", func(scope, tenant string) []string {
		return with([]string{"azd", "auth", "token", "-o", "json", "--no-prompt", "--scope", scope}, "--tenant-id", tenant)
	}},
	{"AzurePowerShellCredential", func(scope, tenant string) []string {
		program := "pwsh"
		if _, err := exec.LookPath(program); err != nil && runtime.GOOS == "windows" {
			program = "powershell"
		}
		tenantIs := ""
		if tenant != "" {
			tenantIs = " -TenantId '" + tenant + "'"
		}
		return []string{program, "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-Command", `$ErrorActionPreference = 'Stop'
Import-Module Az.Accounts -MinimumVersion 2.2.0
$got = Get-AzAccessToken -WarningAction Ignore -ResourceUrl '` + strings.TrimSuffix(scope, "/.default") + `'` + tenantIs + `
$token = $got.Token
if ($token -is [System.Security.SecureString]) { $token = [System.Net.NetworkCredential]::new('', $token).Password }
@{ Token = $token; ExpiresOn = $got.ExpiresOn.ToUnixTimeSeconds() } | ConvertTo-Json`}
	}},
}

// Tool is a program that gives tokens to whoever is logged in with it.
type Tool struct {
	// Name is what AZURE_TOKEN_CREDENTIALS calls it.
	Name    string
	command func(scope, tenant string) []string
}

// with adds a flag whose value is known.
func with(args []string, flag, value string) []string {
	if value != "" {
		args = append(args, flag, value)
	}
	return args
}

// Nothing else stands in a program's arguments: a tenant is what a server says.
var (
	scopes  = lazyregexp.New(`^[a-zA-Z0-9._/:-]{1,256}$`)
	tenants = lazyregexp.New(`^[a-zA-Z0-9.-]{0,256}$`)
)

// GetToken runs the program. Nothing that it prints is in an error, and what it says to people is; the chain goes on then.
func (t Tool) GetToken(ctx context.Context, o policy.TokenRequestOptions) (token azcore.AccessToken, err error) {
	defer func() {
		if err != nil {
			err = azidentity.NewCredentialUnavailableError(t.Name + ": " + err.Error())
		}
	}()
	switch only := os.Getenv("AZURE_ADDITIONALLY_ALLOWED_TENANTS"); {
	case len(o.Scopes) != 1 || !scopes.MatchString(o.Scopes[0]) || !tenants.MatchString(o.TenantID) || strings.HasPrefix(o.TenantID, "-"):
		return token, errors.New("the server asks for a token of something that is none")
	case o.Claims != "":
		return token, errors.New("more is asked of who is logged in, as a second factor: log in again")
	case o.TenantID != "" && only != "" && !slices.Contains(strings.Split(only, ";"), o.TenantID) && !slices.Contains(strings.Split(only, ";"), "*"):
		return token, fmt.Errorf("AZURE_ADDITIONALLY_ALLOWED_TENANTS does not name the tenant %s", o.TenantID)
	}
	args := t.command(o.Scopes[0], o.TenantID)
	var said bytes.Buffer
	out, talk := &child.Output{Limit: maxTool}, &child.Said{To: &said, Limit: maxToolSay, Clean: func(line string) string { return line }}
	cmd := child.New(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = out, talk
	cmd.Dir = "/" // some look for modules of their own in the current directory
	if runtime.GOOS == "windows" {
		cmd.Dir = os.Getenv("SYSTEMROOT")
	}
	err = cmd.Run()
	talk.End()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return token, fmt.Errorf("%s is not installed", args[0])
	case ctx.Err() != nil:
		return token, fmt.Errorf("%s gave no token in time and was ended", args[0])
	case err != nil:
		return token, errors.New(strings.TrimSpace(args[0] + " failed: " + err.Error() + " " + said.String()))
	}
	if token, err = tokenOf(out.Bytes()); err != nil {
		return token, fmt.Errorf("%s: %w", args[0], err)
	}
	return token, nil
}

// tokenOf reads what such a program prints: az has accessToken and expires_on, old ones a local time in expiresOn, azd has token and
// a time in expiresOn, PowerShell Token and ExpiresOn in seconds.
func tokenOf(data []byte) (azcore.AccessToken, error) {
	var got struct {
		AccessToken, Token string
		Seconds            int64           `json:"expires_on"`
		ExpiresOn          json.RawMessage `json:"expiresOn"`
	}
	unknown := errors.New("it printed no token with a time")
	if json.Unmarshal(data, &got) != nil {
		return azcore.AccessToken{}, unknown
	}
	out := azcore.AccessToken{Token: got.AccessToken + got.Token}
	var text string
	switch {
	case got.Seconds != 0:
		out.ExpiresOn = time.Unix(got.Seconds, 0).UTC()
	case json.Unmarshal(got.ExpiresOn, &got.Seconds) == nil:
		out.ExpiresOn = time.Unix(got.Seconds, 0).UTC()
	case json.Unmarshal(got.ExpiresOn, &text) == nil:
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			at, err = time.ParseInLocation("2006-01-02 15:04:05.999999", text, time.Local)
		}
		if err == nil {
			out.ExpiresOn = at.UTC()
		}
	}
	if out.Token == "" || out.ExpiresOn.IsZero() {
		return azcore.AccessToken{}, unknown
	}
	return out, nil
}

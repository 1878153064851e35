package blob

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/AzureAD/microsoft-authentication-library-for-go/apps/managedidentity"

	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/lazyregexp"
)

// The chain of credentials is the Azure library's own, but for the programs in it: the library ends those without what they started. They are
// run here: in bounds, and ended with everything they started when their time is over and when this process ends.

// maxTool bounds what such a program may print, maxToolSay how much of what it says to people is repeated.
const (
	maxTool    = 1 << 20
	maxToolSay = 4 << 10
)

// azureTools are the programs, by what AZURE_TOKEN_CREDENTIALS calls them, in the chain's order.
var azureTools = []azureTool{
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

// azureTool is a program that gives tokens to whoever is logged in with it.
type azureTool struct {
	name    string
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
	azureScope  = lazyregexp.New(`^[a-zA-Z0-9._/:-]{1,256}$`)
	azureTenant = lazyregexp.New(`^[a-zA-Z0-9.-]{0,256}$`)
)

// GetToken runs the program. Nothing that it prints is in an error, and what it says to people is; the chain goes on then.
func (t azureTool) GetToken(ctx context.Context, o policy.TokenRequestOptions) (token azcore.AccessToken, err error) {
	defer func() {
		if err != nil {
			err = azidentity.NewCredentialUnavailableError(t.name + ": " + err.Error())
		}
	}()
	switch only := os.Getenv("AZURE_ADDITIONALLY_ALLOWED_TENANTS"); {
	case len(o.Scopes) != 1 || !azureScope.MatchString(o.Scopes[0]) || !azureTenant.MatchString(o.TenantID) || strings.HasPrefix(o.TenantID, "-"):
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
	if token, err = azureToken(out.Bytes()); err != nil {
		return token, fmt.Errorf("%s: %w", args[0], err)
	}
	return token, nil
}

// azureToken reads what such a program prints: az has accessToken and expires_on, old ones a local time in expiresOn, azd has token and
// a time in expiresOn, PowerShell Token and ExpiresOn in seconds.
func azureToken(data []byte) (azcore.AccessToken, error) {
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

// newAzureChain is what AZURE_TOKEN_CREDENTIALS chooses, by default everything that DefaultAzureCredential looks for, in its order.
func newAzureChain(client azcore.ClientOptions, transport policy.Transporter) (azcore.TokenCredential, error) {
	var sources []azcore.TokenCredential
	chosen := os.Getenv("AZURE_TOKEN_CREDENTIALS")
	for _, t := range azureTools {
		if chosen == "" || chosen == "dev" || strings.EqualFold(chosen, t.name) {
			sources = append(sources, t)
		}
	}
	if _, set := os.LookupEnv("AZURE_TOKEN_CREDENTIALS"); set && (chosen == "" || len(sources) == 0) { // no program, or nothing that there is
		return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: client})
	}
	if chosen == "" {
		sources = append(withoutPrograms(client, transport), sources...)
	}
	return azidentity.NewChainedTokenCredential(sources, nil)
}

// withoutPrograms are the first sources of the chain.
func withoutPrograms(client azcore.ClientOptions, transport policy.Transporter) []azcore.TokenCredential {
	add := func(c azcore.TokenCredential, err error) azcore.TokenCredential {
		if err != nil {
			return unavailable{err}
		}
		return c
	}
	var identity azidentity.ManagedIDKind
	if id, ok := os.LookupEnv("AZURE_CLIENT_ID"); ok {
		identity = azidentity.ClientID(id)
	}
	environment, err1 := azidentity.NewEnvironmentCredential(&azidentity.EnvironmentCredentialOptions{ClientOptions: client})
	workload, err2 := azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{ClientOptions: client})
	managed, err3 := azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ClientOptions: client, ID: identity})
	var machine azcore.TokenCredential = managed
	if err3 == nil {
		machine, err3 = azidentity.NewChainedTokenCredential([]azcore.TokenCredential{managed}, nil) // that it is one of a chain is told to it thus
	}
	if source, err := managedidentity.GetSource(); err == nil && source == managedidentity.DefaultToIMDS {
		machine = &probed{TokenCredential: machine, transport: transport}
	}
	return []azcore.TokenCredential{add(environment, err1), add(workload, err2), add(machine, err3)}
}

// unavailable is a source of which nothing is configured.
type unavailable struct{ why error }

// GetToken says so.
func (u unavailable) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, azidentity.NewCredentialUnavailableError(u.why.Error())
}

// probed is a managed identity that a machine of Azure may have: whether this is one is asked first, and briefly.
type probed struct {
	azcore.TokenCredential
	transport policy.Transporter
	there     bool // the chain asks one at a time until it has a token
}

const (
	imdsURL  = "http://169.254.169.254/metadata/identity/oauth2/token"
	imdsTime = time.Second
)

// GetToken asks for one, where something answers at all.
func (p *probed) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if !p.there {
		brief, cancel := context.WithTimeout(ctx, imdsTime)
		defer cancel()
		ask, err := http.NewRequestWithContext(brief, http.MethodGet, imdsURL, nil)
		var answer *http.Response
		if err == nil {
			answer, err = p.transport.Do(ask)
		}
		if err != nil {
			return azcore.AccessToken{}, azidentity.NewCredentialUnavailableError("ManagedIdentityCredential: this is no machine of Azure")
		}
		_ = answer.Body.Close()
		p.there = true
	}
	return p.TokenCredential.GetToken(ctx, o)
}

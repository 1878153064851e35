package blob

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/AzureAD/microsoft-authentication-library-for-go/apps/managedidentity"

	"hawser.dev/hawser/internal/azuretools"
)

// newAzureChain is what AZURE_TOKEN_CREDENTIALS chooses, by default everything that DefaultAzureCredential looks for, in its order.
func newAzureChain(client azcore.ClientOptions, transport policy.Transporter) (azcore.TokenCredential, error) {
	var sources []azcore.TokenCredential
	chosen := os.Getenv("AZURE_TOKEN_CREDENTIALS")
	for _, t := range azuretools.All {
		if chosen == "" || chosen == "dev" || strings.EqualFold(chosen, t.Name) {
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

package blob

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// AzureOptions say which container of Azure Blob Storage, and how it is reached.
type AzureOptions struct {
	Account, Container, Prefix string
	// Endpoint is https://HOST[:PORT][/ACCOUNT] (or http://), "" for that of the account in Azure's public cloud.
	Endpoint string
	// Key is one of the account's, SAS a shared access signature; without both it is what Azure's own tools find, which goes to Azure's
	// servers alone.
	Key, SAS string
	Server
}

// Azure is a Bucket that is a container of Azure Blob Storage. Whether a blob is absent is decided by the server (If-None-Match: *).
type Azure struct {
	client    *container.Client
	options   AzureOptions
	transport *bounded
	prefix    string
	secrets   []string
}

var _ Bucket = (*Azure)(nil)

// azureDomains are those of Azure's clouds, which the machine's own credentials may go to.
var azureDomains = []string{"blob.core.windows.net", "blob.storage.azure.net", "blob.core.usgovcloudapi.net", "blob.core.chinacloudapi.cn"}

// NewAzure returns the bucket. Nobody is asked for anything yet.
func NewAzure(o AzureOptions) (*Azure, error) {
	o.Server = o.withDefaults()
	endpoint := "https://" + o.Account + ".blob.core.windows.net"
	if o.Endpoint != "" {
		endpoint = o.Endpoint
	}
	base, err := endpointURL(endpoint, true)
	if err != nil {
		return nil, err
	}
	if err := allowed(base, below(base, azureDomains...)); err != nil && o.Key+o.SAS != "" {
		return nil, fmt.Errorf("releases.store.azure.endpoint of the fleet's file is %s: %w", o.Endpoint, err)
	}
	a := &Azure{options: o, transport: newTransport(o.Tell), prefix: rooted(o.Prefix)}
	at := base.JoinPath(o.Container)
	client := azcore.ClientOptions{Transport: a.transport, Retry: policy.RetryOptions{MaxRetries: -1}, Telemetry: policy.TelemetryOptions{ApplicationID: o.UserAgent}}
	options := &container.ClientOptions{ClientOptions: client}
	switch {
	case o.Key != "":
		var key *container.SharedKeyCredential
		if key, err = container.NewSharedKeyCredential(o.Account, o.Key); err != nil {
			return nil, errors.New("releases.store.azure.credentials.key of the fleet's file is no key of an account: give key1 or key2 as Azure shows them (base64)")
		}
		a.client, err = container.NewClientWithSharedKeyCredential(at.String(), key, options)
	case o.SAS != "":
		query, parsed := url.ParseQuery(strings.TrimPrefix(strings.TrimSpace(o.SAS), "?"))
		if parsed != nil || query.Get("sig") == "" || query.Get("sv") == "" {
			return nil, errors.New("releases.store.azure.credentials.sas of the fleet's file is no shared access signature: give the query that begins with sv=, without the URL")
		}
		a.secrets = []string{query.Get("sig"), url.QueryEscape(query.Get("sig"))}
		at.RawQuery = query.Encode()
		a.client, err = container.NewClientWithNoCredential(at.String(), options)
	case !below(base, azureDomains...):
		return nil, fmt.Errorf("the machine's own credentials go to Azure's servers alone, which %s is not: give releases.store.azure.credentials in the fleet's file", o.Endpoint)
	default:
		if err := pathsGiven("a certificate or token", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_FEDERATED_TOKEN_FILE"); err != nil {
			return nil, err
		}
		var found azcore.TokenCredential
		if found, err = newAzureChain(client, a.transport); err == nil {
			a.client, err = container.NewClient(at.String(), azureChain{found, o.Server}, options)
		}
	}
	return a, err
}

// azureChain is what Azure's own tools find, and says what to do where they find nothing.
type azureChain struct {
	azcore.TokenCredential
	server Server
}

// GetToken asks for one.
func (c azureChain) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := c.TokenCredential.GetToken(ctx, o)
	if err == nil {
		return token, nil
	}
	failed, ok := errors.AsType[*azidentity.AuthenticationFailedError](err)
	if ok && failed.RawResponse != nil {
		status := failed.RawResponse.StatusCode
		return token, &unsent{fmt.Errorf("no access token from Azure: %s", c.server.said(err.Error())), status >= 500 || status == http.StatusTooManyRequests}
	}
	if ctx.Err() != nil {
		return token, &unsent{err, true}
	}
	return token, &unsent{fmt.Errorf("%w (%s): set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, run `az login`, or give releases.store.azure.credentials in the fleet's file as ref:// references", errCredentials, c.server.said(err.Error())), false}
}

func (a *Azure) String() string { return a.options.String() }

// String names the container for people: "Azure container acme/releases/prod".
func (o AzureOptions) String() string {
	return named("Azure container", o.Account+"/"+o.Container, o.Prefix, o.Endpoint)
}

// try sends a request of so many bytes until it is answered.
func (a *Azure) try(ctx context.Context, size int, send func(context.Context) error) (unsure bool, err error) {
	unsure, err = a.options.try(ctx, size, func(ctx context.Context) error { return a.refused(send(ctx)) })
	return unsure, vocabulary{"releases.store.azure", "container " + a.options.Container + " of the account " + a.options.Account,
		"to list, read, create and delete blobs of the container is needed (the role Storage Blob Data Contributor has it, a shared access signature with sp=racwdl)"}.told(err)
}

// refused is what the client says in our words.
func (a *Azure) refused(err error) error {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || answer.StatusCode == 0 {
		return err
	}
	secrets := slices.Concat(a.secrets, a.transport.signatures())
	r := &refusal{status: answer.StatusCode, code: a.options.said(answer.ErrorCode, secrets...)}
	if answer.RawResponse != nil {
		var said struct{ Code, Message string }
		if body, err := runtime.Payload(answer.RawResponse); err == nil && len(body) <= maxRefusal {
			_ = xml.Unmarshal(body, &said) // a proxy's answer is HTML: the status says enough
		}
		message, _, _ := strings.Cut(said.Message, "\n") // then come the request's id and time
		r.message = a.options.said(message, secrets...)
	}
	switch bloberror.Code(answer.ErrorCode) {
	case bloberror.BlobAlreadyExists:
		r.status = http.StatusPreconditionFailed
	case bloberror.ContainerNotFound, bloberror.ContainerBeingDeleted:
		r.bucketless = true
	}
	return r
}

// Get reads a blob.
func (a *Azure) Get(ctx context.Context, key string, limit int) (data []byte, err error) {
	_, err = a.try(ctx, 0, func(ctx context.Context) error {
		got, err := a.client.NewBlobClient(a.prefix+key).DownloadStream(aBlob.in(ctx), nil)
		if err != nil {
			return err
		}
		defer func() { _ = got.Body.Close() }()
		size := int64(-1)
		if got.ContentLength != nil {
			size = *got.ContentLength
		}
		data, err = read(got.Body, size, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Create puts a blob where there is none.
func (a *Azure) Create(ctx context.Context, key string, data []byte) error {
	anything := azcore.ETagAny
	absent := &blockblob.UploadOptions{AccessConditions: &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfNoneMatch: &anything}}}
	unsure, err := a.try(ctx, len(data), func(ctx context.Context) error {
		_, err := a.client.NewBlockBlobClient(a.prefix+key).Upload(ctx, streaming.NopCloser(bytes.NewReader(data)), absent)
		return err
	})
	return settled(ctx, a, key, data, unsure, err)
}

// List reads all pages of a listing.
func (a *Azure) List(ctx context.Context, prefix string) ([]Entry, error) {
	list := listing{root: a.prefix, prefix: prefix}
	all := a.prefix + prefix
	var marker *string
	for n := 0; ; n++ {
		if n > maxBlobs {
			return nil, fmt.Errorf("the list does not end after %d pages", n)
		}
		var page container.ListBlobsFlatResponse
		_, err := a.try(ctx, 0, func(ctx context.Context) (err error) {
			page, err = a.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &all, Marker: marker}).NextPage(azurePage.in(ctx))
			return err
		})
		if err == nil && page.Segment != nil {
			err = list.blobs(page.Segment.BlobItems)
		}
		if err != nil {
			return nil, err
		}
		if marker = page.NextMarker; marker == nil || *marker == "" {
			return list.sorted(), nil
		}
	}
}

// blobs adds those of a page. Accounts with directories list those besides.
func (l *listing) blobs(items []*container.BlobItem) error {
	for _, b := range items {
		if b == nil || b.Name == nil || b.Properties == nil || b.Properties.LastModified == nil {
			return &useless{"the list has a blob without name or time"}
		}
		if b.Properties.ResourceType != nil && *b.Properties.ResourceType == "directory" {
			continue
		}
		if err := l.add(*b.Name, *b.Properties.LastModified); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes a blob, with what backups made of it.
func (a *Azure) Delete(ctx context.Context, key string) error {
	with := azblob.DeleteSnapshotsOptionTypeInclude
	_, err := a.try(ctx, 0, func(ctx context.Context) error {
		_, err := a.client.NewBlobClient(a.prefix+key).Delete(ctx, &azblob.DeleteOptions{DeleteSnapshots: &with})
		return err
	})
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	return err
}

// Now is what the server says the time is. What may list may ask for it, which the container's properties are not for.
func (a *Azure) Now(ctx context.Context) (at time.Time, err error) {
	one := int32(1)
	_, err = a.try(ctx, 0, func(ctx context.Context) error {
		at, err = atServer(ctx, func(ctx context.Context) error {
			_, err := a.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: &one, Prefix: &a.prefix}).NextPage(azurePage.in(ctx))
			return err
		})
		return err
	})
	return at, err
}

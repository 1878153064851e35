package oci

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
)

func failure(code, what, why, fix string) error {
	f := diag.Errorf(code, "%s", what)
	f.Why, f.Fix = why, fix
	return diag.Findings{f}.Err()
}

// quote makes text of others fit for a message. It is never cut, as what is left of a secret would not be recognised: one
// that is too long is told by its length.
func quote(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("(%d bytes)", len(s))
	}
	return strconv.Quote(s)
}

// statusError is an answer that is no success.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("%d %s", e.code, http.StatusText(e.code))
	if e.text != "" {
		s += ": " + e.text
	}
	return s
}

// statusOf is the HTTP status in an error, 0 when there is none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.code
	}
	if e, ok := errors.AsType[*errcode.ErrorResponse](err); ok {
		return e.StatusCode
	}
	if errors.Is(err, errdef.ErrNotFound) {
		return http.StatusNotFound
	}
	return 0
}

func isMissing(err error) bool { return statusOf(err) == http.StatusNotFound }

// explain makes a finding of what went wrong with a place. Findings and cancellations stay what they are.
func (c *Client) explain(p place, err error) error {
	if _, ok := errors.AsType[*diag.FindingsError](err); ok || err == nil {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	f, ok := ofStatus(p, err)
	if !ok {
		f, ok = ofContent(p, err)
	}
	if !ok {
		f = c.ofNetwork(p, err)
	}
	f.Why = cut(c.o.redact(f.Why)) // a part of a secret would not be known again
	return diag.Findings{f}.Err()
}

// ofNetwork is the finding for a registry that gave no answer.
func (c *Client) ofNetwork(p place, err error) diag.Finding {
	host := p.remote.Registry
	what := p.String() + ": the registry " + host
	var f diag.Finding
	switch kind := networkOf(err); kind {
	case "registry-timeout":
		f = diag.Errorf(kind, "%s did not answer in time", what)
		f.Fix = "try again later; content that is pinned by digest and in the cache needs no registry"
	case "registry-unknown-host":
		f = diag.Errorf(kind, "%s is not known: its name has no address", what)
		f.Fix = "check the spelling of " + host + ", and the network"
	case "registry-tls":
		f = diag.Errorf(kind, "%s is not trusted", what)
		f.Fix = "add the authority behind its certificate to the system's, or name a file with it in SSL_CERT_FILE"
	case "registry-plain-http":
		f = diag.Errorf(kind, "%s does not speak TLS", what)
		f.Fix = "if that is meant, set " + EnvInsecure + "=" + host + ", or --registry-insecure for one run"
	case "registry-unreachable":
		f = diag.Errorf(kind, "%s cannot be reached", what)
		f.Fix = "check the network and the registry; content that is pinned by digest and in the cache needs none"
	default:
		f = diag.Errorf(kind, "%s", p.String())
	}
	if f.Why = rootOf(err); strings.Contains(f.Why, "uses http but registry was contacted over https") { // the library has no type for it
		f = diag.Errorf("registry-plain-token", "%s sends for its tokens to where there is no TLS: no credentials go there", what)
		f.Why, f.Fix = rootOf(err), "whoever runs "+host+" has to name a token service over https in its WWW-Authenticate header"
	}
	if _, private := errors.AsType[*realmError](err); private || strings.Contains(f.Why, "bearer realm host") {
		f = diag.Errorf("registry-realm", "%s sends for its tokens to a private address: no credentials go there", what)
		f.Why, f.Fix = rootOf(err), "a token service with a private address has to have the host name of the registry itself: whoever runs "+host+" names it so in its WWW-Authenticate header. If it is yours, let what you have for "+host+" go there: "+EnvTokenHosts+"="+host+"=HOST"
	}
	return f
}

// ofStatus is the finding for an answer of the registry.
func ofStatus(p place, err error) (diag.Finding, bool) {
	host := p.remote.Registry
	f := diag.Finding{Severity: diag.Error, Why: rootOf(err)}
	if credentials, ok := errors.AsType[*credentialsError](err); ok {
		f.Code, f.What, f.Why = "registry-credentials", p.String()+": the credentials for "+host+" cannot be read", credentials.Error()
		f.Fix = "check Docker's configuration (config.json in $DOCKER_CONFIG or ~/.docker) and the credential helper it names"
		return f, true
	}
	status := statusOf(err)
	if errors.Is(err, auth.ErrBasicCredentialNotFound) {
		status, f.Why = http.StatusUnauthorized, "it asks for credentials, and none are known"
	}
	switch {
	case strings.Contains(f.Why, "missing username or password for basic auth"): // the library has no type for it
		f.Code, f.What = "registry-unauthorized", p.String()+": the registry "+host+" does not accept the credentials"
		f.Why, f.Fix = "it wants a user and a password, and has a token", "give both: hawser registry login "+host+", or --creds USER:PASSWORD"
	case status == http.StatusUnauthorized:
		f.Code, f.What = "registry-unauthorized", p.String()+": the registry "+host+" does not accept the credentials"
		f.Fix = "hawser registry login " + host
	case status == http.StatusForbidden:
		f.Code, f.What = "registry-forbidden", p.String()+": the registry "+host+" does not allow it"
		f.Fix = "ask for the right to this repository, or log in as somebody who has it: hawser registry login " + host
	case status == http.StatusNotFound:
		f.Code, f.What = "artifact-not-found", p.String()+": there is no such artifact"
		f.Fix = "check registry, repository and version; some registries say this of what you may not see"
	case status == http.StatusTooManyRequests:
		f.Code, f.What = "registry-busy", p.String()+": the registry "+host+" wants fewer requests"
		f.Fix = "try again later, or log in: hawser registry login " + host
	case status >= http.StatusInternalServerError:
		f.Code, f.What = "registry-failed", p.String()+": the registry "+host+" failed"
		f.Fix = "try again later"
	default:
		return f, false
	}
	return f, true
}

// ofContent is the finding for content that is not what it should be.
func ofContent(p place, err error) (diag.Finding, bool) {
	f := diag.Finding{Severity: diag.Error, Why: err.Error()}
	if mismatch, ok := errors.AsType[*cache.MismatchError](err); ok {
		f.Code = "digest-mismatch"
		f.What = fmt.Sprintf("%s: the registry sent content with digest %s, wanted is %s", p, mismatch.Got, mismatch.Want)
		f.Why, f.Fix = "", "the content was damaged or replaced: do not use it; ask who runs the registry"
		return f, true
	}
	if refused, ok := errors.AsType[*archive.Error](err); ok {
		f.Code, f.What, f.Why = "archive-refused", p.String()+": its content is refused", refused.Error()
		f.Fix = "have the artifact made anew without that"
		return f, true
	}
	if redirect, ok := errors.AsType[*httpclient.RedirectError](err); ok {
		f.Code, f.What, f.Why = "registry-redirect", p.String()+": a redirect is not followed", redirect.Error()
		return f, true
	}
	return f, false
}

// networkOf names what kept a request from being answered.
func networkOf(err error) string {
	if _, ok := errors.AsType[*httpclient.StallError](err); ok {
		return "registry-timeout"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return "registry-unknown-host"
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "registry-plain-http"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "registry-tls"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "registry-tls"
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, syscall.ECONNREFUSED) {
		return "registry-unreachable"
	}
	return "registry-error"
}

// rootOf is the innermost text of an error that still says something: URLs with what is in their query are left out.
func rootOf(err error) string {
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return untrusted.Error()
	}
	for {
		switch e := err.(type) {
		case *errcode.ErrorResponse:
			said := &statusError{code: e.StatusCode}
			if len(e.Errors) > 0 {
				said.text = e.Errors.Error()
			}
			return said.Error()
		case *statusError, *httpclient.StallError, *net.DNSError, *net.OpError:
			return e.Error()
		}
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

func cut(s string) string {
	if len(s) > 300 {
		return s[:300] + "..."
	}
	return s
}

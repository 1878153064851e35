package kubeapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/execcredential"
)

// UnreachableError: the cluster resolves but does not answer (network, time-out, 5xx). It may on the next run.
type UnreachableError struct {
	Cluster, Server string
	Err             error
}

// Error names cluster, server and cause.
func (e *UnreachableError) Error() string {
	return "cluster " + e.Cluster + " does not answer: " + e.Reason()
}

// Reason is the short cause: "connection refused (https://...)".
func (e *UnreachableError) Reason() string {
	text := e.Err.Error()
	if errors.Is(e.Err, context.DeadlineExceeded) {
		text = "no answer in time"
	}
	if p, ok := errors.AsType[*execcredential.TimeoutError](e.Err); ok {
		text = p.Error()
	}
	if e.Server == "" || strings.Contains(text, e.Server) {
		return text
	}
	return text + " (" + e.Server + ")"
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// AccessError: the access does not work and waiting does not help (context, credentials, certificate, rights).
type AccessError struct {
	Cluster, Server string
	// Via says how it is reached, "context prod-eu of ~/.kube/config"; "" where no kubeconfig is.
	Via string
	Err error
}

// Error names cluster, server and cause.
func (e *AccessError) Error() string {
	where := "cluster " + e.Cluster
	if e.Server != "" {
		where += " (" + e.Server + ")"
	}
	return where + ": access: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *AccessError) Unwrap() error { return e.Err }

// Finding is the error without cluster and server, so that several clusters with the same trouble are said together.
func (e *AccessError) Finding() diag.Finding {
	f := diag.Errorf("access", "the cluster does not let us in: %s", e.Err.Error())
	f.Why = e.Via
	for _, m := range mistakes {
		if strings.Contains(e.Err.Error(), m.said) {
			f.Fix = m.fix
			break
		}
	}
	if apierrors.IsUnauthorized(e.Err) || strings.Contains(e.Err.Error(), "Unauthorized") {
		f.What, f.Why, f.Fix = "the API server does not take the credentials: Unauthorized", "they are wrong or have expired", "log in again"
		if e.Via != "" {
			f.Why += " (" + e.Via + ")"
		}
	}
	return f
}

const certificates = "correct the certificates of its context (certificate-authority, client-certificate), or name the right authority with --kube-certificate-authority"

// mistakes are what errors of an access say, the most certain first, and what to do.
var mistakes = []struct{ said, fix string }{
	{plainToTLS, "write https:// before the address of its server"},
	{"server gave HTTP response to HTTPS client", "check the port of its server: what answers there speaks no TLS"},
	{"read empty token from file", "write a token into the file, or name another one (users: tokenFile)"},
	{"getting credentials", "run the command that makes its credentials (users: exec) by hand: it says more, and may want a login"},
	{"exec plugin", "run the command that makes its credentials (users: exec) by hand: it says more, and may want a login"},
	{"x509: ", certificates},
	{"tls: ", certificates},
}

// plainToTLS is what an API server answers to a request without TLS.
const plainToTLS = "Client sent an HTTP request to an HTTPS server"

// Told is Finding with the server, for a run with one cluster that no fleet names.
func (e *AccessError) Told() diag.Finding {
	f := e.Finding()
	if e.Server != "" {
		f.What += " (" + e.Server + ")"
	}
	return f
}

// NoKindError: the cluster does not serve the kind.
type NoKindError struct {
	GVK     schema.GroupVersionKind
	Cluster string
	// Near is a kind the cluster serves that may be meant, as APIVERSION and KIND; "" when none is close.
	Near string
}

// Error names kind and cluster.
func (e *NoKindError) Error() string {
	text := fmt.Sprintf("cluster %s does not serve the kind %s of %s", e.Cluster, e.GVK.Kind, e.GVK.GroupVersion())
	if e.Near != "" {
		text += "; it serves " + e.Near
	}
	return text
}

// Transient reports whether what an error says may be over when one asks again: too many requests, a server that is in trouble, a connection that
// was refused or broke, no answer in time.
func Transient(err error) bool { return err != nil && Request{}.again(err) }

// IsAbsent reports whether an error says that an object is not there, of a kind that the cluster serves.
func IsAbsent(err error) bool {
	_, noKind := errors.AsType[*NoKindError](err)
	return !noKind && apierrors.IsNotFound(err)
}

// IsNotFound reports whether an error says that an object, or its kind, is not there.
func IsNotFound(err error) bool {
	if _, ok := errors.AsType[*NoKindError](err); ok {
		return true
	}
	return apierrors.IsNotFound(err)
}

// Failure is the error of a connection that could not be made: an *AccessError when the answer says that who we are is
// the problem, else an *UnreachableError.
func (c *Client) Failure(err error) error {
	if isAccess(err) {
		return &AccessError{Cluster: c.cfg.Name, Server: c.server, Via: c.cfg.via(), Err: errors.New(c.Redact(err.Error()))}
	}
	return &UnreachableError{Cluster: c.cfg.Name, Server: c.server, Err: err}
}

// isAccess reports an answer that says who we are is the problem: 401, 403, certificates, plugins without credentials.
func isAccess(err error) bool {
	if isWrong(err) {
		return true
	}
	if apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	text := err.Error()
	for _, t := range []string{"getting credentials", "tls: ", "x509: ", "exec plugin", "aggregated discovery",
		"server gave HTTP response to HTTPS client", "read empty token from file"} {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}

// Away is why a cluster cannot be worked with though nothing is wrong with the run: it does not answer, or, where it is one of a fleet, it does not
// let us in, which denied says too. "" for an error of another kind. redact masks what servers say.
func Away(err error, implicit bool, redact func(string) string) (why string, denied *diag.Finding) {
	if away, ok := errors.AsType[*UnreachableError](err); ok {
		return redact(away.Reason()), nil
	}
	refused, ok := errors.AsType[*AccessError](err)
	if !ok || implicit {
		return "", nil
	}
	f := refused.Finding()
	f.What, f.Cluster = redact(f.What), refused.Cluster
	return f.What, &f
}

package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
)

// explain makes a finding of what went wrong with a URL. Findings and cancellations stay what they are.
func (f *Fetcher) explain(u *url.URL, err error) error {
	if _, ok := errors.AsType[*diag.FindingsError](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	shown := httpclient.Plain(u)
	if m, ok := errors.AsType[*cache.MismatchError](err); ok {
		return failure("digest-mismatch", fmt.Sprintf("%s has digest %s, wanted is %s", shown, m.Got, m.Want),
			"the file was changed, or the server answered with something else", "read what is there now before you take its digest")
	}
	if refused, ok := errors.AsType[*archive.Error](err); ok {
		return failure("archive-refused", shown+" is refused", f.redact(refused.Error()), "have the archive made anew without that")
	}
	if status, ok := errors.AsType[statusError](err); ok {
		return ofStatus(shown, u.Host, status)
	}
	code, fix := "web-failed", ""
	if _, ok := errors.AsType[*httpclient.RedirectError](err); ok {
		code, fix = "web-redirect", "name the address it leads to, if that is meant"
	} else if _, ok := errors.AsType[*httpclient.StallError](err); ok {
		code, fix = "web-timeout", "try again later; what is in the cache needs no server"
	} else if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		code, fix = "web-tls", "add the authority behind its certificate to the system's, or name a file with it in SSL_CERT_FILE"
	} else if _, ok := errors.AsType[net.Error](err); ok {
		code, fix = "web-unreachable", "check the address and the network; what is in the cache needs no server"
	}
	return failure(code, shown+" cannot be fetched", f.redact(err.Error()), fix)
}

// redact is what of a text of others may be said.
func (f *Fetcher) redact(text string) string {
	if f.o.Redact == nil {
		return text
	}
	return f.o.Redact(text)
}

func ofStatus(shown, host string, status statusError) error {
	switch int(status) {
	case http.StatusUnauthorized, http.StatusForbidden:
		return failure("web-unauthorized", shown+" may not be fetched", "the server "+host+" answers "+status.Error(), "check the credentials and rights for it")
	case http.StatusNotFound, http.StatusGone:
		return failure("web-not-found", shown+" does not exist", "the server "+host+" answers "+status.Error(), "check the address")
	}
	return failure("web-failed", shown+" cannot be fetched", "the server "+host+" answers "+status.Error(), "try again later")
}

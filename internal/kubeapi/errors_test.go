package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Who is not let in is told the same way where a run has one cluster as where it has many: what, why and what to do.
func TestAccessErrorIsAFinding(t *testing.T) {
	for text, want := range map[string]string{"Unauthorized": "log in again", "tls: failed to verify certificate: x509: certificate signed by unknown authority": "--kube-certificate-authority"} {
		fs := diag.From(fmt.Errorf("at work: %w", &AccessError{Cluster: "default", Server: "https://one", Err: errors.New(text)}), "access")
		if len(fs) != 1 || fs[0].Code != "access" || !strings.Contains(fs[0].Fix, want) || !strings.Contains(fs[0].String(), text) || !strings.Contains(fs[0].String(), "https://one") {
			t.Errorf("%+v", fs)
		}
	}
}

// Why somebody is not let in names the context and the file that it is of, and what to do, whatever makes the credentials.
func TestAccessErrorNamesItsContext(t *testing.T) {
	const via = "context prod of /home/ada/.kube/config"
	for text, want := range map[string][2]string{
		"Unauthorized": {"they are wrong or have expired (" + via + ")", "log in again"},
		"getting credentials: exec: executable false failed with exit code 1":              {via, "run the command that makes its credentials (users: exec) by hand"},
		"getting credentials: exec plugin: its output is no ExecCredential in JSON":        {via, "run the command that makes its credentials (users: exec) by hand"},
		`read empty token from file "/t"`:                                                  {via, "write a token into the file"},
		"Client sent an HTTP request to an HTTPS server.":                                  {via, "write https:// before the address of its server"},
		"http: server gave HTTP response to HTTPS client":                                  {via, "check the port of its server"},
		"tls: failed to verify certificate: x509: certificate signed by unknown authority": {via, "--kube-certificate-authority"},
	} {
		f := (&AccessError{Cluster: "eu", Server: "https://one", Via: via, Err: errors.New(text)}).Finding()
		if f.Why != want[0] || !strings.Contains(f.Fix, want[1]) {
			t.Errorf("%s: why %q, fix %q", text, f.Why, f.Fix)
		}
		if f := (&AccessError{Cluster: "eu", Err: errors.New(text)}).Finding(); strings.Contains(f.Why, "context") || f.Fix == "" {
			t.Errorf("%s: without a context: %+v", text, f)
		}
	}
}

// Where a kubeconfig has http:// for a server that speaks TLS, waiting does not help.
func TestPlainRequestToTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: %q}}]\n"+
		"users: [{name: a, user: {token: t0ken-of-a-user}}]\n", strings.Replace(server.URL, "https://", "http://", 1))
	c, err := Open(Config{Name: "eu", Access: fleet.Access{Content: []byte(config)}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Do(t.Context(), Request{Path: "/version", Into: func([]byte) error { return nil }})
	refused, ok := errors.AsType[*AccessError](c.Failure(err))
	if !ok || !strings.Contains(refused.Finding().Fix, "https://") {
		t.Errorf("%v", err)
	}
}

// What may be over when one asks again is told apart from what is not, as the client itself does, also where it is wrapped.
func TestTransient(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{apierrors.NewInternalError(errors.New("etcd")), true},
		{apierrors.NewServiceUnavailable("soon"), true},
		{apierrors.NewTooManyRequests("later", 1), true},
		{apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", maps, "a", "", 0, true), true},
		{apierrors.NewGenericServerResponse(http.StatusGatewayTimeout, "get", maps, "a", "", 0, true), true},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		{io.ErrUnexpectedEOF, true},
		{context.DeadlineExceeded, true},
		{fmt.Errorf("%w: %w", context.DeadlineExceeded, apierrors.NewInternalError(errors.New("etcd"))), true},
		{apierrors.NewForbidden(maps, "a", errors.New("no")), false},
		{apierrors.NewUnauthorized("no"), false},
		{apierrors.NewNotFound(maps, "a"), false},
		{apierrors.NewBadRequest("no"), false},
		{&NoKindError{Cluster: "a"}, false},
		{errors.New("x509: certificate signed by unknown authority"), false},
	} {
		wrapped := c.err
		if c.err != nil {
			wrapped = fmt.Errorf("get ConfigMap a: %w", c.err)
		}
		if Transient(c.err) != c.want || Transient(wrapped) != c.want {
			t.Errorf("%v: %t, wrapped %t, want %t", c.err, Transient(c.err), Transient(wrapped), c.want)
		}
	}
}

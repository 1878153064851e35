package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
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

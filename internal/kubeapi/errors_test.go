package kubeapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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

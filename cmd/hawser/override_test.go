package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/testserver"
)

// TestServerByFlags: the flags that stand for a kubeconfig, or for parts of one, are what a real command goes by: the address, the
// token, the authority and the name of the certificate; the kubeconfig's own credentials go nowhere, the token stands in no output
// and in no file, and what does not fit is an error that says so before anything is sent.
func TestServerByFlags(t *testing.T) {
	t.Parallel()
	srv, other := testserver.Start(t), testserver.Start(t)
	const token = "c4nary-env-by-flag"
	var strange atomic.Int64
	srv.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer "+token {
			return false
		}
		strange.Add(1)
		testserver.Status(w, http.StatusUnauthorized, "Unauthorized", "not that token")
		return true
	})
	theirs := other.Kubeconfig(t, func(c *clientcmdapi.Config) {
		c.AuthInfos["test"] = &clientcmdapi.AuthInfo{Username: "ada", Password: "secret"}
	})
	run := func(kubeconfig string, line string) result {
		t.Helper()
		b := newBench(t)
		b.env = append(b.env, "KUBECONFIG="+filepath.Join(b.dir, "none"), "XDG_CACHE_HOME="+filepath.Join(b.dir, "cache"))
		if err := os.WriteFile(filepath.Join(b.dir, "ca.crt"), srv.CA, 0o600); err != nil {
			t.Fatal(err)
		}
		b.write("b.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: flags\n  instances:\n    a: {namespace: default, manifests: {paths: [./m]}}\n")
		b.write("m/a.yaml", bombObject)
		b.write("fleet.yaml", bombFleet)
		if kubeconfig != "" {
			line += " --kubeconfig " + kubeconfig
		}
		r := b.run(strings.Fields(strings.NewReplacer("$URL", srv.URL, "$TOKEN", token).Replace(line))...)
		silent(t, line, r.Stdout+r.Stderr)
		return r
	}
	const ca = " --kube-certificate-authority ca.crt"
	for _, c := range []struct {
		reason, kubeconfig, line string
		code                     int
		says                     string
	}{
		{"without a kubeconfig", "", "plan -f b.yaml --kube-server $URL --kube-token $TOKEN" + ca, 0, "1 to create"},
		{"in place of the kubeconfig's", theirs, "plan -f b.yaml --kube-server $URL --kube-token $TOKEN" + ca, 0, "1 to create"},
		{"by the certificate's other name", "", "plan -f b.yaml --kube-server $URL --kube-token $TOKEN --kube-tls-server-name example.com" + ca, 0, "1 to create"},
		{"by a name that it has not", "", "plan -f b.yaml --kube-server $URL --kube-token $TOKEN --kube-tls-server-name elsewhere.example" + ca, 1, "elsewhere.example"},
		{"an authority that nobody knows", "", "plan -f b.yaml --kube-server $URL --kube-token $TOKEN", 1, "certificate"},
		{"not verified", "", "plan -f b.yaml --kube-server $URL --kube-token $TOKEN --kube-insecure-skip-tls-verify", 0, "not verified"},
		{"verified, and not", "", "plan -f b.yaml --kube-server $URL --kube-token $TOKEN --kube-insecure-skip-tls-verify" + ca, 1, "nothing would be verified"},
		{"half a pair", "", "plan -f b.yaml --kube-server $URL --kube-client-certificate ca.crt" + ca, 1, "go together"},
		{"no address", theirs, "plan -f b.yaml --kube-server nowhere --kube-token $TOKEN", 1, "no usable server address"},
		{"with a fleet", theirs, "plan -f b.yaml --fleet fleet.yaml --kube-server $URL --kube-token $TOKEN" + ca, 1, "--kube-server"},
		{"applied", theirs, "apply -y -f b.yaml --kube-server $URL --kube-token $TOKEN" + ca, 0, ""},
		{"and deleted", theirs, "delete flags -y --confirm-delete 1 --kube-server $URL --kube-token $TOKEN" + ca, 0, ""},
	} {
		before := len(srv.Requests())
		r := run(c.kubeconfig, c.line)
		if r.Code != c.code || !strings.Contains(r.Stdout+r.Stderr, c.says) {
			t.Errorf("%s: want exit %d and %q, got %s", c.reason, c.code, c.says, r)
		}
		if asked := len(srv.Requests()) - before; (asked > 0) != (c.code == 0) {
			t.Errorf("%s: %d requests", c.reason, asked)
		}
		if there := srv.Object("/api/v1/namespaces/default/configmaps/ok") != nil; there != (c.reason == "applied") {
			t.Errorf("%s: delivered: %t", c.reason, there)
		}
	}
	if strange.Load() > 0 || len(other.Requests()) > 0 {
		t.Errorf("%d requests without the token, elsewhere %v", strange.Load(), other.Requests())
	}
	if r := run(theirs, "plan -f b.yaml --kube-server $URL"+ca); r.Code == 0 || strange.Load() == 0 {
		t.Errorf("without the token: %s", r)
	}
}

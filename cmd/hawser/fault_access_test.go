package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// plugin makes an exec plugin the credentials of a cluster's context, and nothing else.
func (s *scene) plugin(cluster, script string) {
	s.t.Helper()
	syscall.ForkLock.RLock() // what starts meanwhile would have it open for writing a moment longer: "text file busy"
	path := s.write("plugin-"+cluster, "#!/bin/sh\n"+script)
	syscall.ForkLock.RUnlock()
	if err := os.Chmod(path, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.editConfig(func(cfg *clientcmdapi.Config) {
		cfg.AuthInfos["plugin-"+cluster] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: path,
			APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}}
		cfg.Contexts[cluster].AuthInfo = "plugin-" + cluster
	})
}

// says prints credentials with a token.
func says(token string) string {
	return fmt.Sprintf(`cat <<'END'
{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": %q}}
END
`, token)
}

// token makes a token of a new service account that may do everything.
func (s *scene) token(cluster string) string {
	s.t.Helper()
	s.admin(cluster, http.MethodPost, "api/v1/namespaces/default/serviceaccounts", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: $NS}\n")
	s.admin(cluster, http.MethodPost, "apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: $NS, namespace: default}]
`)
	s.may(cluster, "system:serviceaccount:default:"+s.ns, "", "delete", "", "namespaces", "")
	data, err := s.client(cluster).Post().AbsPath("/api/v1/namespaces/default/serviceaccounts/"+s.ns+"/token").
		Body([]byte(`{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}`)).
		SetHeader("Content-Type", "application/json").DoRaw(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	var out struct{ Status struct{ Token string } }
	if err := json.Unmarshal(data, &out); err != nil {
		s.t.Fatal(err)
	}
	return out.Status.Token
}

// The plugin that makes one cluster's credentials hangs: that cluster is unknown in time, the others go on.
func TestFault19PluginHangs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.plugin("production-us", "exec sleep 900 >/dev/null 2>&1\n")
	r := s.want(3, onFleet("plan")...)
	if r.Elapsed > 5*time.Minute {
		t.Errorf("the plan took %s", r.Elapsed)
	}
	s.has(r.Stdout, "production-us", "ConfigMap $NS/a", "credential plugin")
}

// The plugin hands out a credential that has expired: it is asked again, once per answer, and the run goes on. One that
// only has expired credentials is an error that says so, before any write.
func TestFault19CredentialExpires(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	good := s.token("staging")
	calls := filepath.Join(s.dir, "calls")
	s.plugin("staging", "echo x >> "+calls+"\nif [ $(wc -l < "+calls+") -le 1 ]; then\n"+says("expired")+"else\n"+says(good)+"fi\n")
	s.want(0, onOne("staging", "apply", "-y")...)
	s.there("staging", "a", "b")

	s.plugin("staging", says("expired"))
	s.edit("m/a.yaml", `"1"`, `"2"`)
	r := s.want(1, onOne("staging", "apply", "-y")...)
	s.has(r.Stderr, "Unauthorized")
	s.wantData("staging", "a", "v", "1")
}

// The credential stops being accepted in the middle of the apply: the plugin is asked for a new one and the same run
// ends well.
func TestFault19ExpiresMidRollout(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle + faultMany(30))
	var mu sync.Mutex
	accepted, refused := "", 0
	s.interpose("staging", func(w http.ResponseWriter, r *http.Request, pass func()) {
		mu.Lock()
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if accepted == "" {
			accepted = token
		}
		if writesOf(r, "configmaps") && refused == 0 {
			accepted = "second" // from now on
		}
		ok := token == accepted
		if !ok {
			refused++
		}
		mu.Unlock()
		if !ok {
			status(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
			return
		}
		pass()
	})
	calls := filepath.Join(s.dir, "calls")
	s.plugin("staging", "echo x >> "+calls+"\nif [ $(wc -l < "+calls+") -le 1 ]; then\n"+says("first")+"else\n"+says("second")+"fi\n")
	s.want(0, onOne("staging", "apply", "-y")...)
	s.there("staging", "a", "b", "m29")
	mu.Lock()
	defer mu.Unlock()
	if refused == 0 {
		t.Error("no credential was refused")
	}
}

// faultMany is n further ConfigMaps.
func faultMany(n int) string {
	var b strings.Builder
	b.WriteString("-- m/many.yaml --\n")
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d}\ndata: {v: \"1\"}\n", i)
	}
	return b.String()
}

// The context leads to another cluster than the one the bundle was applied to: re-created under the same name, or the
// contexts swapped. Nothing is written or pruned anywhere; taking it as new is a decision that has to be said.
func TestFault25RecreatedCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.edit("fleet.yaml", "    production-us: {group: production, kubeContext: production-us}\n", "")
	s.want(0, onFleet("apply", "-y")...)
	s.contexts("production-us", "production-eu") // production-eu is another cluster now
	s.edit("m/a.yaml", `"1"`, `"2"`)
	s.mark()
	for _, verb := range [][]string{onFleet("plan"), onFleet("apply", "-y"), onFleet("delete", "-y")} {
		r := s.want(5, verb...)
		s.has(r.Stderr+r.Stdout, "production-eu", "uid")
	}
	s.untouched(clusters...)
	s.has(s.want(5, onFleet("apply", "-y", "--adopt")...).Stderr, "--accept-cluster production-eu") // that is for objects
	s.has(s.want(1, onFleet("apply", "-y", "--accept-cluster", "nowhere")...).Stderr, "nowhere")
	s.untouched(clusters...)
	s.want(0, onFleet("apply", "-y", "--accept-cluster", "production-eu")...)
	s.there("production-us", "a", "b") // that is where the context leads
	s.want(0, onFleet("apply", "-y")...)
	s.wantData("production-eu", "a", "v", "1") // the old one is left alone
}

func TestFault25SwappedContexts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.want(0, onFleet("apply", "-y")...)
	for _, lock := range []bool{true, false} {
		if !lock { // without hawser.lock the records tell
			if err := os.Remove(filepath.Join(s.dir, "hawser.lock")); err != nil {
				t.Fatal(err)
			}
		} else {
			s.contexts("staging", "production-us", "production-us", "staging")
		}
		s.mark()
		r := s.want(5, onFleet("apply", "-y")...)
		s.has(r.Stderr, "staging", "production-us")
		s.untouched(clusters...)
	}
}

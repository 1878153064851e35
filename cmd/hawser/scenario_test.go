package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// plainBundle is one instance of plain manifests in m/.
const plainBundle = `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    all: {manifests: {paths: [./m]}, namespace: $NS}
`

// shopFleet is this package's clusters with labels and vars, in YAML.
const shopFleet = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters:
    staging: {group: staging, kubeContext: staging, labels: {region: eu}, vars: {region: eu-1, zones: 1}}
    production-eu: {group: production, kubeContext: production-eu, labels: {region: eu}, vars: {region: eu-2, zones: 3}}
    production-us: {group: production, kubeContext: production-us, labels: {region: us}, vars: {region: us-1, zones: 2}}
`

// TestPlainManifestsOnOneCluster is what a user of kubectl does all day: plan, apply, the same again without a write,
// an edit, somebody else's edit shown as drift and corrected, delete.
func TestPlainManifestsOnOneCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle)
	s.write("m/all.yaml", configMaps("1", "a", "b")+"---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n")
	on := []string{"-f", "bundle.yaml", "--kube-context", "staging"}
	run := func(code int, args ...string) result { return s.want(code, append(args, on...)...) }

	s.mark()
	r := run(2, "plan", "--detailed-exitcode")
	s.has(r.Stdout, "Bundle $B on cluster default ("+s.fleet.Cluster("staging").URL+")", "+ ConfigMap $NS/a", "+ Service $NS/web", "4 to create")
	s.untouched("staging")
	run(5, "apply") // nobody can be asked
	s.untouched("staging")
	run(0, "apply", "-y")
	s.there("staging", "a", "b")

	s.mark()
	r = run(0, "apply", "-y")
	s.has(r.Stderr, "No changes: 4 objects")
	s.untouched("staging", "production-eu", "production-us")
	run(0, "plan", "--detailed-exitcode")
	run(0, "diff")

	s.edit("m/all.yaml", "data: {v: \"1\"}\n---\napiVersion: v1\nkind: Service", "data: {v: \"2\"}\n---\napiVersion: v1\nkind: Service")
	r = run(1, "diff")
	s.has(r.Stdout, "ConfigMap $NS/b", "data.v", `"1" -> "2"`)
	s.lacks(r.Stdout, "ConfigMap $NS/a")
	s.mark()
	run(0, "apply", "-y")
	if got := s.written("staging"); len(got) != 1 || got[0] != "PATCH configmaps/b" {
		t.Errorf("one object changed, written were %q", got)
	}

	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/a", `{"data":{"v":"by hand"}}`, "fieldManager", "kubectl-edit")
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/b", `{"data":{"other":"is theirs"}}`, "fieldManager", "kubectl-edit")
	r = run(2, "plan", "--detailed-exitcode")
	s.has(r.Stdout, "~ ConfigMap $NS/a", `"by hand" -> "1"`, "drift", "kubectl-edit")
	s.lacks(r.Stdout, "ConfigMap $NS/b")
	r = s.want(4, "status", s.bundle, "--kube-context", "staging")
	s.has(r.Stdout, "ConfigMap $NS/a", "drifted", "kubectl-edit")
	run(0, "apply", "-y")
	s.wantData("staging", "a", "v", "1")
	s.wantData("staging", "b", "other", "is theirs")
	s.want(0, "status", s.bundle, "--kube-context", "staging")

	// changed by hand and in the bundle at once: what we had declared is taken back, with -y and without
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/b", `{"data":{"v":"by hand"}}`, "fieldManager", "kubectl-edit")
	s.edit("m/all.yaml", `data: {v: "2"}`, `data: {v: "3"}`)
	r = run(2, "plan", "--detailed-exitcode")
	s.has(r.Stdout, `"by hand" -> "3"`, "kubectl-edit")
	run(0, "apply", "-y")
	s.wantData("staging", "b", "v", "3")

	s.admin("staging", http.MethodDelete, "api/v1/namespaces/$NS/configmaps/a", "")
	r = run(2, "plan", "--detailed-exitcode")
	s.has(r.Stdout, "+ ConfigMap $NS/a", "1 to create")
	run(0, "apply", "-y")
	s.there("staging", "a")

	run(0, "delete", "-y")
	s.gone("staging", "a", "b")
	if s.get("staging", "api/v1/namespaces/$NS") == nil {
		t.Error("the instance's namespace was deleted")
	}
}

// TestPruneAndBrake: what left the bundle is deleted, a few without ado; many only with their exact number confirmed.
func TestPruneAndBrake(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle)
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	s.write("m/all.yaml", configMaps("1", append(names, "stays")...))
	apply := []string{"apply", "-y", "-f", "bundle.yaml", "--kube-context", "staging"}
	s.want(0, apply...)

	s.write("m/all.yaml", configMaps("1", append(names[1:], "stays")...))
	r := s.want(0, apply...)
	s.has(r.Stderr, "- ConfigMap $NS/c0", "no longer in the bundle")
	s.gone("staging", "c0")
	s.there("staging", "c1", "stays")

	s.write("m/all.yaml", configMaps("1", "stays"))
	s.mark()
	r = s.want(5, apply...)
	s.has(r.Stderr, "11 objects", "--confirm-delete=11", "Nothing was written")
	r = s.want(5, append(apply, "--confirm-delete=3")...)
	s.has(r.Stderr, "--confirm-delete=3 does not match", "11")
	s.untouched("staging")
	s.there("staging", names[1:]...)
	s.want(0, append(apply, "--confirm-delete=11")...)
	s.gone("staging", names...)
	s.there("staging", "stays")
}

// TestAdoption: what kubectl applied, client-side or server-side, is a conflict that names its owner, until --adopt takes
// it over; then it is ours alone and the former owner's other fields are gone.
func TestAdoption(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle)
	s.write("m/all.yaml", configMaps("ours", "client", "server"))
	s.namespace("staging")
	s.write("theirs-client.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: client, namespace: "+s.ns+"}\ndata: {v: theirs, extra: x}\n")
	const body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: $NS\n%sdata: {v: theirs, extra: x}\n"
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/configmaps", fmt.Sprintf(body, "client",
		`  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"client"},"data":{"v":"theirs","extra":"x"}}'}`+"\n"),
		"fieldManager", "kubectl-client-side-apply")
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/server", fmt.Sprintf(body, "server", ""), "fieldManager", "kubectl", "force", "true")

	apply := []string{"apply", "-y", "-f", "bundle.yaml", "--kube-context", "staging"}
	s.mark()
	r := s.want(5, apply...)
	s.has(r.Stderr, "ConfigMap $NS/client", "kubectl-client-side-apply", "ConfigMap $NS/server", "--adopt", "Nothing was written")
	s.untouched("staging")
	r = s.want(0, append(apply, "--adopt")...)
	s.has(r.Stderr, "< ConfigMap $NS/client", "< ConfigMap $NS/server")
	for _, name := range []string{"client", "server"} {
		s.wantData("staging", name, "v", "ours")
		s.wantData("staging", name, "extra", "")
		o := s.get("staging", "api/v1/namespaces/$NS/configmaps/"+name)
		for _, m := range o.Metadata.ManagedFields {
			if strings.HasPrefix(m.Manager, "kubectl") {
				t.Errorf("%s is still managed by %s", name, m.Manager)
			}
		}
	}
	s.mark()
	s.want(0, apply...)
	s.untouched("staging")
}

// TestImmutableField: a change that Kubernetes forbids is refused in the plan; --recreate deletes and creates, and the
// plan says so.
func TestImmutableField(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle)
	s.write("m/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\nimmutable: true\ndata: {v: \"1\"}\n")
	apply := []string{"apply", "-y", "-f", "bundle.yaml", "--kube-context", "staging"}
	s.want(0, apply...)
	before := s.get("staging", "api/v1/namespaces/$NS/configmaps/fixed").Metadata.UID
	s.edit("m/all.yaml", `"1"`, `"2"`)
	s.mark()
	r := s.want(5, "plan", "-f", "bundle.yaml", "--kube-context", "staging")
	s.has(r.Stdout, "ConfigMap $NS/fixed", "immutable", "--recreate")
	s.untouched("staging")
	r = s.want(5, apply...)
	s.has(r.Stderr, "ConfigMap $NS/fixed", "immutable", "--recreate", "Nothing was written")
	s.untouched("staging")
	s.wantData("staging", "fixed", "v", "1")
	s.mark()
	r = s.want(0, "plan", "--recreate", "-f", "bundle.yaml", "--kube-context", "staging")
	s.has(r.Stdout, "± ConfigMap $NS/fixed")
	s.untouched("staging")
	r = s.want(0, append(apply, "--recreate")...)
	s.has(r.Stderr, "± ConfigMap $NS/fixed", "1 to recreate")
	s.wantData("staging", "fixed", "v", "2")
	if after := s.get("staging", "api/v1/namespaces/$NS/configmaps/fixed").Metadata.UID; after == before {
		t.Error("it was not recreated")
	}
}

// TestPlanFile: a saved plan is shown without clusters, applied exactly, and refused once files, clusters or records
// moved. It holds no secret.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle + shopFleet)
	const secret = "plan-file-canary"
	s.write("m/all.yaml", configMaps("1", "a", "b")+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {token: "+secret+"}\n")
	plan := func() { s.want(0, "plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--out", "shop.plan") }

	r := s.want(0, "plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--out", "shop.plan")
	s.has(r.Stdout, "Saved as shop.plan (sha256:", "hawser apply shop.plan")
	data, err := os.ReadFile(filepath.Join(s.dir, "shop.plan"))
	if err != nil {
		t.Fatal(err)
	}
	s.lacks(string(data), secret, base64.StdEncoding.EncodeToString([]byte(secret)))
	if info, _ := os.Stat(filepath.Join(s.dir, "shop.plan")); info.Mode().Perm() != 0o600 {
		t.Errorf("the plan file may be read by others: %s", info.Mode())
	}
	offline := *s
	b := *s.bench
	b.env = append(b.env[:len(b.env):len(b.env)], "KUBECONFIG=/nonexistent")
	offline.bench = &b
	r = offline.want(0, "plan", "show", "shop.plan")
	s.has(r.Stdout, "+ ConfigMap $NS/a", "12 to create")
	s.lacks(r.Stdout+r.Stderr, "vouches")
	oneDocument(t, offline.want(0, "plan", "show", "shop.plan", "-o", "json").Stdout)

	r = s.want(0, "apply", "shop.plan", "-y")
	s.has(r.Stdout, "12 created")
	for _, c := range clusters {
		s.there(c, "a", "b")
	}
	s.mark()
	r = s.want(0, "apply", "shop.plan", "-y", "-v") // it was carried out
	s.has(r.Stderr, "this saved plan was carried out before")
	s.untouched(clusters...)

	s.write("m/c.yaml", configMaps("1", "c"))
	plan()
	s.write("m/c.yaml", configMaps("2", "c"))
	s.mark()
	r = s.want(5, "apply", "shop.plan", "-y")
	s.has(r.Stderr, "source manifests ./m changed", "plan again")
	s.untouched(clusters...)

	plan()
	s.admin("production-us", http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "fieldManager", "kubectl-create")
	s.mark()
	r = s.want(5, "apply", "shop.plan", "-y") // the last cluster of the rollout: nothing is written on the first two either
	s.has(r.Stderr, "ConfigMap $NS/c has appeared since", "cluster production-us")
	s.untouched(clusters...)
}

// slowAnswer types its answer when think has returned.
type slowAnswer struct {
	think func()
	io.Reader
}

func (a *slowAnswer) Read(p []byte) (int, error) {
	if a.think != nil {
		a.think()
		a.think = nil
	}
	return a.Reader.Read(p)
}

// TestStaleWhileThePlanIsRead: an object appears on the last cluster while somebody reads the plan and says yes: nothing is
// written on the clusters before it.
func TestStaleWhileThePlanIsRead(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle + shopFleet)
	s.write("m/all.yaml", configMaps("1", "a"))
	s.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	s.write("m/all.yaml", configMaps("1", "a")+configMaps("1", "c"))
	s.mark()
	read := &slowAnswer{Reader: strings.NewReader("y\n"), think: func() {
		s.admin("production-us", http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "fieldManager", "kubectl-create")
		time.Sleep(4 * time.Second)
	}}
	code, said := s.interactivelyFrom(read, "apply", "-f", "bundle.yaml", "-r", "fleet.yaml")
	if code != 5 {
		t.Errorf("exit code %d", code)
	}
	s.has(said, "ConfigMap $NS/c has appeared since", "cluster production-us", "plan again")
	s.untouched("staging", "production-eu", "production-us")
}

// TestLock: a second writer fails at once and names the holder; the first one finishes.
func TestLock(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle)
	s.write("m/all.yaml", configMaps("1", "a"))
	entered, leave := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(entered) })
	s.interpose("staging", func(_ http.ResponseWriter, r *http.Request, pass func()) {
		if writesOf(r, "configmaps") {
			once()
			<-leave
		}
		pass()
	})
	apply := []string{"apply", "-y", "-f", "bundle.yaml", "--kube-context", "staging"}
	s.env = append(s.env, "USER=alice")
	first := make(chan result, 1)
	go func() { first <- s.run(apply...) }()
	await(t, "the first writer writes", entered)
	second := *s
	b := *s.bench
	b.env = append(b.env[:len(b.env):len(b.env)], "USER=bob")
	second.bench = &b
	r := second.run(apply...)
	close(leave)
	if r.Code != 5 { // while the first one holds it
		t.Errorf("the second writer: %s", r)
	}
	s.has(r.Stdout+r.Stderr, "locked by", "alice")
	if r := <-first; r.Code != 0 {
		t.Errorf("the first writer: %s", r)
	}
	second.want(0, apply...)
}

// TestNamespaces: an instance's own namespace is created, shown and kept; any other that is missing is an error before
// anything is written.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle)
	apply := []string{"apply", "-y", "-f", "bundle.yaml", "--kube-context", "staging"}
	s.write("m/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: "+s.ns+"-other}\n")
	s.mark()
	r := s.want(1, apply...)
	s.has(r.Stderr, "namespace", "$NS-other", "all.yaml")
	s.untouched("staging")
	s.write("m/all.yaml", configMaps("1", "a"))
	r = s.want(0, apply...)
	s.has(r.Stderr, "+ Namespace $NS", "namespace of instance all")
	r = s.want(0, "delete", "-y", s.bundle, "--kube-context", "staging")
	s.has(r.Stderr, "= Namespace $NS", "stays")
	if s.get("staging", "api/v1/namespaces/$NS") == nil {
		t.Error("the namespace is gone")
	}
}

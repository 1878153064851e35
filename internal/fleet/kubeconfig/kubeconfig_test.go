package kubeconfig

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
)

var update = flag.Bool("update", false, "rewrite golden files")

const config = `apiVersion: v1
kind: Config
current-context: stg-eu-central-1
clusters:
- {name: c1, cluster: {server: "https://one.example:6443"}}
- {name: c2, cluster: {server: "https://two.example:6443"}}
- {name: noserver, cluster: {server: ""}}
- {name: plain, cluster: {server: "http://localhost:8001"}}
- {name: badca, cluster: {server: "https://three.example", certificate-authority: /does/not/exist.crt}}
users:
- {name: token, user: {token: s3cret}}
- {name: none, user: {}}
- {name: cert, user: {client-certificate: /does/not/exist.crt, client-key-data: a2V5}}
- {name: half, user: {client-certificate-data: Y2VydA==}}
- {name: exec, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-command-anywhere, installHint: get it, interactiveMode: Never}}}
contexts:
- {name: stg-eu-central-1, context: {cluster: c1, user: token}}
- {name: prod-eu-central-1, context: {cluster: c2, user: token, namespace: x}}
- {name: nocluster, context: {cluster: nope, user: token}}
- {name: nouser, context: {cluster: c1, user: nope}}
- {name: nocredentials, context: {cluster: c1, user: none}}
- {name: noserver, context: {cluster: noserver, user: token}}
- {name: nocert, context: {cluster: c1, user: cert}}
- {name: half, context: {cluster: c1, user: half}}
- {name: exec, context: {cluster: c1, user: exec}}
- {name: badca, context: {cluster: badca, user: token}}
- {name: proxy, context: {cluster: plain}}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func declared(context string) fleet.Cluster {
	return fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "a", KubeContext: context,
		Pos: v1alpha1.Position{File: "fleet.yaml", Line: 3, Column: 5}}}
}

func TestResolve(t *testing.T) {
	path := write(t, "config", config)
	t.Setenv("KUBECONFIG", path)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason  string
		cluster fleet.Cluster
		opts    fleet.AccessOptions
		context string
		server  string
		code    string
		text    string
	}{
		{"declared context", declared("prod-eu-central-1"), fleet.AccessOptions{}, "prod-eu-central-1", "https://two.example:6443", "", ""},
		{"the implicit cluster takes the current context", fleet.Implicit(""), fleet.AccessOptions{}, "stg-eu-central-1", "https://one.example:6443", "", ""},
		{"or the one named", fleet.Implicit("prod-eu-central-1"), fleet.AccessOptions{}, "prod-eu-central-1", "https://two.example:6443", "", ""},
		{"a local proxy needs no user", declared("proxy"), fleet.AccessOptions{}, "proxy", "http://localhost:8001", "", ""},
		{"misspelled context", declared("prod-eu-centrl-1"), fleet.AccessOptions{}, "", "", "unknown-context", `did you mean "prod-eu-central-1"?`},
		{"no context is not the current one", declared(""), fleet.AccessOptions{Context: "stg-eu-central-1"}, "", "", "no-access", ""},
		{"unknown cluster", declared("nocluster"), fleet.AccessOptions{}, "", "", "broken-context", `"nope"`},
		{"unknown user", declared("nouser"), fleet.AccessOptions{}, "", "", "broken-context", `"nope"`},
		{"no server", declared("noserver"), fleet.AccessOptions{}, "", "", "broken-context", "server"},
		{"no credentials", declared("nocredentials"), fleet.AccessOptions{}, "", "", "no-credentials", "no credentials"},
		{"missing certificate", declared("nocert"), fleet.AccessOptions{}, "", "", "no-credentials", "/does/not/exist.crt"},
		{"certificate without key", declared("half"), fleet.AccessOptions{}, "", "", "no-credentials", "key"},
		{"missing command", declared("exec"), fleet.AccessOptions{}, "", "", "no-credentials", "get it"},
		{"missing authority", declared("badca"), fleet.AccessOptions{}, "", "", "broken-context", "/does/not/exist.crt"},
		{"missing file", declared("x"), fleet.AccessOptions{Kubeconfig: "/does/not/exist"}, "", "", "kubeconfig", "/does/not/exist"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, fs := Resolve(c.cluster, c.opts)
			if c.code == "" {
				want := fleet.Access{KubeconfigPaths: []string{path}, Context: c.context, Server: c.server}
				if d := cmp.Diff(want, got); d != "" || fs != nil {
					t.Error(d, fs)
				}
				return
			}
			if len(fs) != 1 || fs[0].Code != c.code || !strings.Contains(fs[0].String(), c.text) {
				t.Errorf("got %v, want %s with %q", fs, c.code, c.text)
			}
			if d := cmp.Diff(fleet.Access{}, got); d != "" {
				t.Error("a failure gives no access", d)
			}
			if strings.Contains(fs[0].String(), "s3cret") {
				t.Error("the token is shown")
			}
		})
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("the user's kubeconfig was changed")
	}
}

// TestNoKubeconfig: a file that is none is told with what it looks like and the line; nothing of it is quoted.
func TestNoKubeconfig(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"\n\n", "it is empty"},
		"broken":        {"apiVersion: v1\nclusters: [\n  s3cret\n", "line "},
		"tab":           {"apiVersion: v1\nkind: Config\nclusters:\n\t- s3cret\n", "line 4: a tab in the indentation"},
		"manifest":      {"apiVersion: v1\nkind: Pod\n", "line 2: it looks like a manifest of the kind Pod"},
		"bundle":        {"# x\nbundle: {name: s3cret}\n", "line 2: it looks like a bundle of Hawser"},
		"fleet":         {"fleet: {}\n", "line 1: it looks like a fleet of Hawser"},
		"certificate":   {"-----BEGIN CERTIFICATE-----\ns3cret\n", "it looks like a certificate or a key"},
		"token":         {"s3cret.eyJhbGciOi\n", "it looks like a token"},
		"list":          {"- s3cret\n", "line 1: it does not begin with fields"},
		"binary":        {"\x00\x01s3cret", "it is no text file"},
		"clusters":      {"apiVersion: v1\nkind: Config\nclusters: 5\n", "line 3: clusters is not a list"},
		"server":        {"apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: 5}}]\n", "server may not be a number"},
		"something":     {"hello: s3cret\n", "it has no clusters, no contexts and no users"},
		"only a choice": {"apiVersion: v1\nkind: Config\ncurrent-context: a\n", "it has no contexts at all"},
		"kind alone":    {"apiVersion: v1\nkind: Config\nclusters: []\n", "has no contexts"},
	} {
		path := write(t, "k"+strings.ReplaceAll(name, " ", ""), c.text)
		got, fs := Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: path})
		if len(fs) != 1 || !strings.Contains(fs[0].String(), c.want) || !strings.Contains(fs[0].String(), path) || fs[0].Fix == "" {
			t.Errorf("%s: %v, want %q", name, fs, c.want)
		}
		if d := cmp.Diff(fleet.Access{}, got); d != "" || strings.Contains(fs[0].String(), "s3cret") {
			t.Errorf("%s: %s %v", name, d, fs)
		}
	}
	if _, fs := Resolve(fleet.Implicit(""), fleet.AccessOptions{Kubeconfig: t.TempDir()}); len(fs) != 1 || fs[0].Why != "is a directory" || fs[0].Fix == "" {
		t.Errorf("a directory: %v", fs)
	}
}

// TestResolveInsecure: a certificate that is not verified is a warning each time, and a password in the address is not shown.
func TestResolveInsecure(t *testing.T) {
	path := write(t, "config", `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://me:s3cret@one.example:6443", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: s3cret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
`)
	got, fs := Resolve(declared("x"), fleet.AccessOptions{Kubeconfig: path})
	if got.Server != "https://one.example:6443" {
		t.Errorf("%+v", got)
	}
	if len(fs) != 1 || fs[0].Code != "insecure-tls" || fs.HasErrors() || fs[0].Fix == "" || strings.Contains(fs[0].String(), "s3cret") {
		t.Errorf("%v", fs)
	}
	for proxy, want := range map[string]string{"http://proxy.example:8080": "insecure-proxy", "socks5://10.0.0.1:1080": "insecure-proxy", "socks5://localhost:1080": "insecure-tls"} {
		c := declared("x")
		c.ProxyURL = proxy
		if got, fs := Resolve(c, fleet.AccessOptions{Kubeconfig: path}); len(fs) != 1 || fs[0].Code != want || fs.HasErrors() && (got.Server != "" || fs[0].Fix == "" || strings.Contains(fs[0].String(), "s3cret")) {
			t.Errorf("%s: %+v %v", proxy, got, fs)
		}
	}
	ca := write(t, "ca.crt", "x")
	if _, fs = Resolve(declared("x"), fleet.AccessOptions{Kubeconfig: path, Override: fleet.Override{CertificateAuthority: ca}}); len(fs) > 0 {
		t.Errorf("verified by the flag's authority, and warned of: %v", fs)
	}
}

// TestResolveWithoutTLS: a server that is asked without TLS is one whose certificate nobody verifies, whatever the kubeconfig and the flags say of
// certificates: no proxy of the fleet's file is used but one on this machine. On this machine alone nobody is on the way.
func TestResolveWithoutTLS(t *testing.T) {
	config := func(server string) string {
		return write(t, "config", `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "`+server+`"}}]
users: [{name: u, user: {token: s3cret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
`)
	}
	ca := write(t, "ca.crt", "x")
	for _, of := range []struct{ server, flag, proxy, want string }{
		{"http://one.example:8080", "", "http://192.0.2.2:18555", "insecure-proxy"},
		{"HTTP://me:s3cret@one.example", "", "socks5://192.0.2.2:1080", "insecure-proxy"},
		{"http://127.0.0.1:8001", "", "http://192.0.2.2:18555", "insecure-proxy"},
		{"https://one.example", "http://two.example", "http://192.0.2.2:18555", "insecure-proxy"},
		{"http://one.example:8080", "", "http://localhost:3128", "insecure-tls"},
		{"http://one.example:8080", "", "", "insecure-tls"},
		{"https://one.example", "http://two.example", "", "insecure-tls"},
		{"http://one.example", "https://two.example", "http://192.0.2.2:18555", ""},
		{"http://127.0.0.1:8001", "", "", ""},
		{"http://localhost:8001", "", "http://[::1]:3128", ""},
	} {
		for _, authority := range []string{"", ca} {
			c := declared("x")
			c.ProxyURL = of.proxy
			got, fs := Resolve(c, fleet.AccessOptions{Kubeconfig: config(of.server), Override: fleet.Override{Server: of.flag, CertificateAuthority: authority}})
			code := ""
			if len(fs) == 1 {
				code = fs[0].Code
			}
			if code != of.want || len(fs) > 1 || fs.HasErrors() != (of.want == "insecure-proxy") || fs.HasErrors() && got.Server != "" || strings.Contains(fmt.Sprint(fs), "s3cret") ||
				code != "" && (fs[0].Fix == "" || strings.Contains(fs[0].Why, "skip-tls")) {
				t.Errorf("%+v: %+v %v", of, got, fs)
			}
		}
	}
	c := fleet.Implicit("")
	c.ProxyURL = "http://192.0.2.2:18555"
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	if _, fs := Resolve(c, fleet.AccessOptions{Override: fleet.Override{Server: "http://two.example", Token: "s3cret"}}); len(fs) != 1 || fs[0].Code != "insecure-proxy" {
		t.Errorf("flags alone: %v", fs)
	}
}

// TestProgramThatIsMissing: a plug-in that is not there is told with what to do, its own hint where it has one.
func TestProgramThatIsMissing(t *testing.T) {
	for hint, want := range map[string]string{"": "install it, or put its directory into PATH", "installHint: get it at example.com, ": "get it at example.com"} {
		path := write(t, "plugin", `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://one.example"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, `+hint+`command: no-such-command-anywhere, interactiveMode: Never}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
`)
		if _, fs := Resolve(declared("x"), fleet.AccessOptions{Kubeconfig: path}); len(fs) != 1 || fs[0].Fix != want || !strings.Contains(fs[0].What, "no-such-command-anywhere") || strings.Contains(fs[0].What, "get it") {
			t.Errorf("%q: %+v", hint, fs)
		}
	}
}

func TestResolveOwnFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".kube"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".kube", "prod")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", dir)
	own := func(p, context, from string) fleet.Cluster {
		return fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "a", ProxyURL: "socks5://b:1",
			Kubeconfig: &v1alpha1.KubeconfigAccess{Path: p, Context: context, Dir: from}}}
	}
	for _, c := range []struct {
		reason  string
		cluster fleet.Cluster
		context string
	}{
		{"home directory", own("~/.kube/prod", "prod-eu-central-1", "/x"), "prod-eu-central-1"},
		{"relative to the fleet file", own("./prod", "", filepath.Join(dir, ".kube")), "stg-eu-central-1"},
		{"absolute", own(path, "", "/x"), "stg-eu-central-1"},
	} {
		got, fs := Resolve(c.cluster, fleet.AccessOptions{Kubeconfig: "/ignored", As: "jane", AsGroups: []string{"ops"}})
		want := fleet.Access{KubeconfigPaths: []string{path}, Context: c.context, ProxyURL: "socks5://b:1", Server: got.Server,
			Impersonate: "jane", Groups: []string{"ops"}}
		if d := cmp.Diff(want, got); d != "" || fs != nil {
			t.Error(c.reason, d, fs)
		}
	}
	if _, fs := Resolve(own("./nope", "", dir), fleet.AccessOptions{}); !fs.HasErrors() {
		t.Error("a missing file resolves")
	}
	if _, fs := Resolve(fleet.Implicit(""), fleet.AccessOptions{}); !fs.HasErrors() {
		t.Error("without ~/.kube/config there is nothing to take")
	}
}

func TestResolveMerges(t *testing.T) {
	one := write(t, "one", "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://a'}}]\nusers: [{name: u, user: {token: t}}]\n")
	two := write(t, "two", "apiVersion: v1\nkind: Config\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n")
	t.Setenv("KUBECONFIG", one+string(os.PathListSeparator)+"/does/not/exist"+string(os.PathListSeparator)+two)
	got, fs := new(Resolver).Resolve(declared("x"), fleet.AccessOptions{})
	if fs != nil || len(got.KubeconfigPaths) != 2 || got.Server != "https://a" {
		t.Error(got, fs)
	}
	broken := write(t, "broken", "clusters: [")
	if _, fs := Resolve(declared("x"), fleet.AccessOptions{Kubeconfig: broken}); len(fs) != 1 || fs[0].Code != "kubeconfig" {
		t.Error(fs)
	}
}

const contexts = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://a"}}]
users: [{name: u, user: {token: t}}]
contexts:
- {name: prod-eu-central-1, context: {cluster: c, user: u}}
- {name: stg-eu-central-1, context: {cluster: c, user: u}}
- {name: "admin@dev.k8s.local", context: {cluster: c, user: u}}
- {name: "arn:aws:eks:eu-west-1:1234:cluster/Payments_PROD", context: {cluster: c, user: u}}
- {name: kind-test, context: {cluster: c, user: u}}
- {name: "a/payments_prod", context: {cluster: c, user: u}}
- {name: somewhere, context: {cluster: c, user: nobody}}
`

func TestImport(t *testing.T) {
	path := write(t, "config", contexts)
	for name, cue := range map[string]bool{"import.yaml": false, "import.cue": true} {
		got, fs := Import(ImportOptions{Kubeconfig: path, CUE: cue})
		if fs.HasErrors() || len(fs.Warnings()) != 1 {
			t.Error(fs)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Error(d)
		}
	}
	if got, fs := Import(ImportOptions{Kubeconfig: path, Contexts: []string{"prod-*"}, Name: "x"}); fs != nil || strings.Count(got, "kubeContext") != 1 {
		t.Error(got, fs)
	}
	if _, fs := Import(ImportOptions{Kubeconfig: path, Contexts: []string{"nope"}}); !fs.HasErrors() {
		t.Error("an unknown context is imported")
	}
}

func TestImportNamesThePath(t *testing.T) {
	path := write(t, "config", contexts)
	got, fs := Import(ImportOptions{Kubeconfig: path, Path: "kube.yaml", Contexts: []string{"prod-*"}})
	if fs != nil || !strings.Contains(got, `kubeconfig: {path: "kube.yaml", context: "prod-eu-central-1"}`) || strings.Contains(got, "kubeContext") {
		t.Error(got, fs)
	}
}

func TestGuessGroup(t *testing.T) {
	for in, want := range map[string]string{"prod-eu": "production", "eu-prod1": "production", "preprod": "staging", "kind-kind": "dev",
		"gke_acme_europe-west1_live": "production", "minikube": "dev", "acme": "", "product-catalog": ""} {
		if got, _ := guessGroup(in); got != want {
			t.Errorf("guessGroup(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzClusterName: whatever a context is called, the cluster's name is one, and YAML reads it back as text.
func FuzzClusterName(f *testing.F) {
	f.Add("arn:aws:eks:eu-west-1:123:cluster/Staging_2")
	f.Add("1234")
	f.Add("no")
	f.Fuzz(func(t *testing.T, s string) {
		n := clusterName(s)
		if n == "" || len(n) > 63 || strings.Trim(n, "-._") != n || notName.MatchString(n) {
			t.Errorf("clusterName(%q) = %q", s, n)
		}
		var back map[string]any
		if err := yaml.Unmarshal([]byte(key(n)+": 1"), &back); err != nil || len(back) != 1 || back[n] == nil {
			t.Errorf("%q as a key of YAML reads back as %v (%v)", n, back, err)
		}
	})
}

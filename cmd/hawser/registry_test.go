package main

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	helmregistry "helm.sh/helm/v4/pkg/registry"
	repo "helm.sh/helm/v4/pkg/repo/v1"

	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/testregistry"
)

// registryPassword is what the registry of these tests asks for; it is shown nowhere.
const registryPassword = "pa55word-canary"

// registryScene is the bundle of examples/sources, its module, charts and manifests published: in a registry with TLS and
// basic authentication, and in a chart repository and on a web server with TLS.
type registryScene struct {
	*scene
	registry, files *testregistry.Registry
	served          string // the directory behind files
}

// registryBundle has what the example has, from elsewhere, and a second chart from the repository and a file by its URL.
const registryBundle = `bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    config:
      manifests: {url: "$OCI/manifests/config", version: 1.0.0}
      namespace: $NS
    db:
      kustomize: {path: ./db/overlay}
      namespace: $NS
      dependsOn: [config]
    api:
      helm: {chart: "$OCI/charts/api", version: 1.x}
      namespace: $NS
      dependsOn: [config]
      values:
        region: {$cluster: name}
        database:
          uri: {from: {instance: db, object: v1/Secret/db-conn, path: .data.uri}}
        token: ref://files:api.enc.yaml/token
      valuesFor:
        production:
          groups: [production]
          values: {replicas: 3}
    edge:
      helm: {chart: api, repo: "$WEB/charts", version: "~1.2"}
      namespace: $NS
      values: {region: {$cluster: group}, database: {uri: none}, token: none}
    web:
      module: {url: "$OCI/modules/web", version: ">=1.0 <2"}
      namespace: $NS
      dependsOn: [api]
      values:
        message: {from: {file: ./message.txt}}
        image: {repository: registry.example.com/sources/web, tag: 1.0.0}
        settings:
          CLUSTER: {$cluster: name}
    page:
      manifests: {url: "$WEB/page.yaml", digest: "$PAGE"}
      namespace: $NS
`

const registryPage = `apiVersion: v1
kind: ConfigMap
metadata: {name: page}
data: {from: a web server}
`

func newRegistryScene(t *testing.T) *registryScene {
	t.Helper()
	s := &registryScene{scene: newScene(t), served: t.TempDir(),
		registry: testregistry.Start(t, testregistry.Options{TLS: true, User: "ada", Password: registryPassword})}
	s.files = testregistry.Start(t, testregistry.Options{TLS: true, Files: s.served})
	s.env = append(s.env, "SSL_CERT_FILE="+s.registry.CAFile, "HAWSER_CACHE_DIR="+filepath.Join(s.dir, "cache"),
		"DOCKER_CONFIG="+s.registry.DockerConfig(t, "ada", registryPassword))
	for from, to := range map[string]string{"../../examples/sources": "sources", "../../examples/modules/web": "web"} {
		if err := os.CopyFS(filepath.Join(s.dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	s.edit("web/templates/site.cue", "examples.hawser.dev", "$NS.examples.hawser.dev") // definitions are the cluster's
	s.write("fleet.yaml", fluxFleet)
	sum := sha256.Sum256([]byte(registryPage))
	s.write("sources/sources.yaml", strings.NewReplacer("$OCI", "oci://"+s.registry.Host, "$WEB", s.files.URL,
		"$PAGE", "sha256:"+hex.EncodeToString(sum[:])).Replace(s.fill(registryBundle)))
	if err := os.WriteFile(filepath.Join(s.served, "page.yaml"), []byte(registryPage), 0o644); err != nil {
		t.Fatal(err)
	}
	s.pushModule("1.0.0")
	s.pushManifests()
	s.pushCharts("1.2.0")
	return s
}

// pushModule publishes the module of the scene.
func (s *registryScene) pushModule(version string, more ...string) {
	s.t.Helper()
	s.want(0, append([]string{"module", "push", "web", s.registry.OCI("modules/web"), "--version", version}, more...)...)
}

// pushManifests publishes what build makes of the example's plain manifests, always under the same tag.
func (s *registryScene) pushManifests() {
	s.t.Helper()
	s.write("config.yaml", s.fill("bundle: {apiVersion: v1alpha1, name: $B, instances: {config: {manifests: {paths: [./sources/config]}, namespace: $NS}}}\n"))
	s.want(0, "build", "-f", "config.yaml", "--kube-context", clusters[0], "--output-dir", "rendered")
	s.want(0, "artifact", "push", s.registry.OCI("manifests/config"), "-f", "rendered/config", "-t", "1.0.0", "--force")
}

// pushCharts publishes the example's chart under a version with Helm's own client, in the registry and in the repository.
func (s *registryScene) pushCharts(version string) {
	s.t.Helper()
	c, err := loader.LoadDir(filepath.Join(s.dir, "sources", "api"))
	if err != nil {
		s.t.Fatal(err)
	}
	c.Metadata.Version = version
	dir := filepath.Join(s.served, "charts")
	archive, err := chartutil.Save(c, dir)
	if err != nil {
		s.t.Fatal(err)
	}
	index, err := repo.IndexDirectory(dir, s.files.URL+"/charts")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := index.WriteFile(filepath.Join(dir, "index.yaml"), 0o644); err != nil {
		s.t.Fatal(err)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.helm().Push(data, s.registry.Host+"/charts/api:"+version); err != nil {
		s.t.Fatal(err)
	}
}

// helm is Helm's registry client, logged in.
func (s *registryScene) helm() *helmregistry.Client {
	s.t.Helper()
	pem, err := os.ReadFile(s.registry.CAFile)
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := helmregistry.NewClient(helmregistry.ClientOptBasicAuth("ada", registryPassword),
		helmregistry.ClientOptCredentialsFile(filepath.Join(s.dir, "helm.json")),
		helmregistry.ClientOptHTTPClient(&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// on are the arguments of a verb for the scene's bundle.
func (s *registryScene) on(verb string, more ...string) []string {
	return append([]string{verb, "-f", "sources/sources.yaml", "--fleet", "fleet.yaml", "--fleet", "sources/stores.yaml"}, more...)
}

// apply applies without waiting: the clusters run no workloads.
func (s *registryScene) apply(more ...string) result {
	s.t.Helper()
	return s.want(0, s.on("apply", append([]string{"-y", "--wait=false"}, more...)...)...)
}

// pin is what hawser.lock has of the source that begins so.
func (s *registryScene) pin(begins string) lockfile.Pin {
	s.t.Helper()
	f, err := lockfile.Read(filepath.Join(s.dir, "sources", lockfile.Name))
	if err != nil {
		s.t.Fatal(err)
	}
	for key, pin := range f.Sources {
		if strings.HasPrefix(key, begins) {
			return pin
		}
	}
	s.t.Fatalf("%s pins nothing that begins with %q: %v", lockfile.Name, begins, f.Sources)
	return lockfile.Pin{}
}

// silent fails the test when anything was asked of the registry, the repository or the web server since the last time.
func (s *registryScene) silent(what string) {
	s.t.Helper()
	if asked := slices.Concat(s.registry.Requests(), s.files.Requests()); len(asked) > 0 {
		s.t.Errorf("%s asked for %v", what, asked)
	}
	s.forget()
}

func (s *registryScene) forget() {
	s.registry.Forget()
	s.files.Forget()
}

// cold gives the next runs an empty cache.
func (s *registryScene) cold(name string) {
	s.env = append(s.env, "HAWSER_CACHE_DIR="+filepath.Join(s.dir, name))
}

// TestRegistryEndToEnd: modules, charts and manifests published with Hawser's and Helm's own tools are pinned, applied to
// real clusters, left alone while nothing changes, and upgraded on request.
func TestRegistryEndToEnd(t *testing.T) {
	t.Parallel()
	s := newRegistryScene(t)

	s.forget()
	refused := s.want(5, s.on("plan", "--locked")...)
	s.has(refused.Stderr, "sources.yaml:", "is not pinned by hawser.lock", "hawser lock")
	if asked := s.registry.Requests(); len(asked) > 0 {
		t.Errorf("a plan that is refused for want of pins asked the registry: %v", asked)
	}

	s.want(0, s.on("lock")...)
	for begins, version := range map[string]string{s.registry.OCI("modules/web"): "1.0.0", "helm " + s.registry.OCI("charts/api"): "1.2.0",
		"helm " + s.files.URL + "/charts": "1.2.0", "manifests " + s.registry.OCI("manifests/config"): "1.0.0"} {
		if got := s.pin(begins); got.Version != version || !strings.HasPrefix(got.Digest, "sha256:") {
			t.Errorf("%s is pinned to %+v, want %s", begins, got, version)
		}
	}
	s.has(s.want(0, s.on("outdated", "--detailed-exitcode")...).Stdout, "up to date")

	first := s.apply("--locked")
	for _, c := range clusters {
		s.wantData(c, "settings", "log-level", "info")
		s.wantData(c, "page", "from", "a web server")
		s.there(c, "web")
		if got := s.secretOf(c, "api", "token"); got != sourcesToken {
			t.Errorf("%s: token is %q", c, got)
		}
		if got := s.secretOf(c, "edge", "database"); got != "none" {
			t.Errorf("%s: database of the second chart is %q", c, got)
		}
	}

	s.mark()
	s.forget()
	again := s.apply("--locked")
	s.untouched(clusters...)
	s.silent("an apply without a change")
	s.has(again.Stderr, "0 renders for 18 instances")

	// Newer ones are published: nothing happens until one is asked for.
	s.pushModule("1.1.0")
	s.edit("sources/api/Chart.yaml", `appVersion: "2.0"`, `appVersion: "2.1"`)
	s.pushCharts("1.2.1")
	s.pushCharts("2.0.0")
	outdated := s.want(2, s.on("outdated", "--detailed-exitcode")...)
	s.has(outdated.Stdout, "newer in range", "1.2.1", "2.0.0", "1.1.0")
	s.mark()
	s.forget()
	s.apply("--locked")
	s.untouched(clusters...)
	s.silent("an apply of pins that are outdated")

	s.want(0, s.on("lock", "--upgrade", "edge")...)
	if a, b := s.pin("helm "+s.files.URL).Version, s.pin("helm "+s.registry.OCI("charts/api")).Version; a != "1.2.1" || b != "1.2.0" {
		t.Errorf("after an upgrade of edge alone: edge %s, api %s", a, b)
	}
	upgraded := s.apply("--locked")
	for _, c := range clusters {
		w := s.written(c)
		if !slices.ContainsFunc(w, func(x string) bool { return strings.HasSuffix(x, "deployments/edge") }) ||
			slices.ContainsFunc(w, func(x string) bool { return strings.HasSuffix(x, "/api") || strings.HasSuffix(x, "/web") }) {
			t.Errorf("%s: the upgrade of edge wrote %v", c, w)
		}
	}
	for _, r := range []result{refused, first, again, outdated, upgraded} {
		s.lacks(r.String(), registryPassword, sourcesToken)
	}
}

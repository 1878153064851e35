package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"hawser.dev/hawser/internal/promotion"
	"hawser.dev/hawser/internal/testregistry"
)

const promotionFiles = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: shop
  clusters:
    staging: {group: staging, kubeContext: staging}
    production-eu: {group: production, kubeContext: production-eu}
    production-us: {group: production, kubeContext: production-us}
  rollout:
    waves:
    - {name: staging, groups: [staging]}
    - {name: production, groups: [production]}
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    config:
      manifests: {url: "$OCI/manifests/config", version: stable}
      namespace: $NS
    api:
      helm: {chart: "$OCI/charts/api", version: 1.x} # what the team releases
      namespace: $NS
      values: {region: {$cluster: group}}
      valuesFor:
        staging:
          groups: [staging]
          values: {image: {tag: "1.0"}}
        production:
          groups: [production]
          values:
            image:
              tag: "1.0" # the board says when
-- api/Chart.yaml --
apiVersion: v2
name: api
version: 1.0.0
-- api/values.yaml --
image: {repository: registry.example.com/api, tag: none}
-- api/templates/api.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: api}
data:
  chart: {{ .Chart.Version | quote }}
  image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
  region: {{ .Values.region | quote }}
`

// promotionScene is a registry with a chart and a tag of manifests, and a fleet of two groups that have both.
type promotionScene struct{ *registryScene }

func newPromotionScene(t *testing.T) *promotionScene {
	t.Helper()
	s := &promotionScene{&registryScene{scene: newScene(t), registry: testregistry.Start(t, testregistry.Options{TLS: true, User: "ada", Password: registryPassword})}}
	s.env = append(s.env, "SSL_CERT_FILE="+s.registry.CAFile, "HAWSER_CACHE_DIR="+filepath.Join(s.dir, "cache"), "DOCKER_CONFIG="+s.registry.DockerConfig(t, "ada", registryPassword))
	s.scene.files(strings.ReplaceAll(promotionFiles, "$OCI", "oci://"+s.registry.Host))
	s.chart("1.0.0")
	s.config("one")
	return s
}

// chart publishes the chart under a version.
func (s *promotionScene) chart(version string) {
	s.t.Helper()
	c, err := loader.LoadDir(filepath.Join(s.dir, "api"))
	if err != nil {
		s.t.Fatal(err)
	}
	c.Metadata.Version = version
	archive, err := chartutil.Save(c, s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	data, err := os.ReadFile(archive)
	if err == nil {
		_, err = s.helm().Push(data, s.registry.Host+"/charts/api:"+version)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// config publishes the manifests, always under the tag stable.
func (s *promotionScene) config(text string) {
	s.t.Helper()
	s.write("config/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {text: "+text+"}\n")
	s.want(0, "artifact", "push", s.registry.OCI("manifests/config"), "-f", "config", "-t", "stable", "--force")
}

func (s *promotionScene) on(verb string, more ...string) []string {
	return append([]string{verb, "-f", "shop.yaml", "--fleet", "fleet.yaml"}, more...)
}

func (s *promotionScene) promote(code int, more ...string) result {
	s.t.Helper()
	return s.want(code, append([]string{"promote", s.bundle, "-f", "shop.yaml", "--fleet", "fleet.yaml", "--from", "staging", "--to", "production"}, more...)...)
}

// runs checks what a cluster has: the manifests' text, the chart's version and the image's tag.
func (s *promotionScene) runs(cluster, text, chart, tag string) {
	s.t.Helper()
	s.wantData(cluster, "config", "text", text)
	s.wantData(cluster, "api", "chart", chart)
	s.wantData(cluster, "api", "image", "registry.example.com/api:"+tag)
}

// TestPromotion: staging gets a new chart, manifests and image; promotion writes what it runs into the files for production, where the
// next apply delivers the same content, whatever tags and ranges mean by then. Nothing is written to a cluster in between, and
// staging's plan stays empty.
func TestPromotion(t *testing.T) {
	t.Parallel()
	s := newPromotionScene(t)
	s.want(0, s.on("lock")...)
	s.want(0, s.on("apply", "-y")...)
	s.has(s.promote(0, "-y").Stdout, "release 1 ", "hawser.lock", "1 file written") // from now on production has pins of its own
	s.has(s.promote(0, "-y").Stdout, "The files say it already")

	s.chart("1.1.0")
	s.config("two")
	s.edit("shop.yaml", `values: {image: {tag: "1.0"}}`, `values: {image: {tag: "2.0"}}`)
	s.want(0, s.on("lock", "--upgrade", "*")...)
	s.has(s.promote(5, "-y").Stderr, "the files are not what release 1 ", "apply them to where is promoted from first")
	s.has(s.want(0, s.on("plan", "--skip-waves", "--group", "production")...).Stdout, "No changes") // what is upgraded for all is not production's
	s.want(0, s.on("apply", "-y", "--group", "staging")...)
	s.runs("staging", "two", "1.1.0", "2.0")

	s.chart("1.2.0") // and on it goes
	s.config("three")
	before, lock := s.read("shop.yaml"), s.read("hawser.lock")
	s.mark()
	dry := s.promote(0, "--dry-run").Stdout
	s.has(dry, "1.0.0", "1.1.0", `image.tag: 1.0 -> 2.0`, `-              tag: "1.0" # the board says when`, `+              tag: "2.0" # the board says when`, "Nothing is written yet")
	s.has(s.promote(5).Stderr, "nobody can be asked here")
	if s.read("shop.yaml") != before || s.read("hawser.lock") != lock {
		t.Error("a dry run wrote files")
	}
	var doc promotion.Promotion
	if err := json.Unmarshal([]byte(s.promote(0, "-y", "-o", "json").Stdout), &doc); err != nil || !doc.Written || len(doc.Files) != 2 || len(doc.Instances) != 2 || doc.Release.Release != 2 {
		t.Errorf("%v %+v", err, doc)
	}
	s.untouched("staging", "production-eu", "production-us")
	if got, want := s.read("shop.yaml"), strings.Replace(before, `tag: "1.0" # the board`, `tag: "2.0" # the board`, 1); got != want {
		t.Errorf("shop.yaml is\n%s", got)
	}

	plan := s.want(0, s.on("plan")...).Stdout
	s.has(plan, "0 to create, 4 to change, 0 to delete", "ConfigMap "+s.ns+"/api", "ConfigMap "+s.ns+"/config")
	s.lacks(plan, "three", "1.2.0", "group staging")
	s.has(s.want(0, s.on("plan", "--group", "staging")...).Stdout, "No changes")
	s.has(s.want(1, "diff", "--between", "staging,production", s.bundle, "--fleet", "fleet.yaml").Stdout, "production-eu, production-us", "1.1.0", "1.0.0", `"two"`, `"one"`)
	s.want(0, s.on("apply", "-y", "--locked")...)
	for _, c := range []string{"staging", "production-eu", "production-us"} {
		s.runs(c, "two", "1.1.0", "2.0")
	}
	s.wantData("production-eu", "api", "region", "production")
	s.has(s.want(1, "diff", "--between", "staging,production", s.bundle, "--fleet", "fleet.yaml").Stdout, "data.region") // which is all
	s.has(s.want(0, "diff", "--between", "production-eu,production-us", s.bundle, "--fleet", "fleet.yaml").Stdout, "no differences")

	s.want(0, s.on("lock", "--upgrade", "*")...) // for all but production
	s.want(0, s.on("apply", "-y", "--group", "staging")...)
	s.runs("staging", "three", "1.2.0", "2.0")
	s.has(s.want(0, s.on("plan", "--group", "production", "--skip-waves")...).Stdout, "No changes")
	s.promote(0, "-y", "--release", "2") // the same again, which it has
	s.has(s.want(0, s.on("plan", "--group", "production", "--skip-waves")...).Stdout, "No changes")
}

package document

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// wholeBundle is a valid bundle with every field that the documents know, and with values that a cluster, another
// instance or the run gives: {$cluster: PATH}, {from: ...} and {generate: ...}. Free names begin with "my".
const wholeBundle = `bundle:
  apiVersion: v1alpha1
  name: shop
  requires:
    - bundle: base
  health:
    - group: example.org
      kind: Widget
      name: big
      ready: status.ok == true
      failed: status.bad == true
      progressing: status.busy == true
      message: status.text
  ignore:
    - group: apps
      kind: Deployment
      name: api
      paths:
        - spec.replicas
      managers:
        - scaler
  instances:
    my-module:
      module:
        url: oci://registry.example.org/modules/web
        version:
          $cluster: labels.version
        digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
      namespace:
        $cluster: labels.team
      values:
        region:
          $cluster: labels.region
        password:
          generate:
            length: 20
        token:
          from:
            instance: my-chart
            object: v1/Secret/token
            key: token
      valuesFor:
        my-layer:
          clusters:
            - a
          groups:
            - g
          clusterSelector:
            matchLabels:
              region: eu
            matchExpressions:
              - key: region
                operator: In
                values:
                  - eu
          values:
            region:
              $cluster: name
    my-chart:
      dependsOn:
        - my-kustomization
      placement:
        clusters:
          - a
        groups:
          - g
        clusterSelector:
          matchLabels:
            region: eu
        tolerations:
          - key: gpu
            operator: Equal
            value: 'yes'
            effect: NoSchedule
      wait: true
      timeout: 5m
      suspend: false
      health:
        - kind: Widget
          ready: status.ok == true
      ignore:
        - kind: Deployment
          managers:
            - scaler
      namespace: x
      helm:
        chart: api
        repo:
          $cluster: labels.mirror
        version: 1.x
        releaseName:
          $cluster: name
        skipCRDs: true
        skipHooks: true
        skipSchema: true
        digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
      values:
        from:
          file: values.yaml
    my-kustomization:
      kustomize:
        path: ./base
        root:
          $cluster: labels.dir
        digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
    my-manifests:
      manifests:
        paths:
          - a.yaml
    my-download:
      manifests:
        url: oci://registry.example.org/manifests/web
        version:
          $cluster: labels.version
        digest: sha256:0000000000000000000000000000000000000000000000000000000000000000
`

// wholeFleet is a valid fleet with waves.
const wholeFleet = `fleet:
  apiVersion: v1alpha1
  name: f
  clusters:
    my-cluster:
      group: g
      kubeContext: x
      proxyURL: http://10.0.0.1:3128
      labels:
        region: eu
      vars:
        domain: example.org
      taints:
        - key: gpu
          value: 'yes'
          effect: NoSchedule
  values:
    - query: k8s:v1:Secret:default:x
      for:
        TOKEN: obj.data.token
      optional: true
  rollout:
    waves:
      - groups:
          - g
        canary: 1
        soak: 5s
`

var keyLine = regexp.MustCompile(`^( *(?:- )?)([A-Za-z$]+):`)

// free are keys of data, which are no fields.
var free = map[string]bool{"$cluster": true, "region": true, "password": true, "token": true, "generate": true, "length": true,
	"from": true, "instance": true, "object": true, "file": true, "domain": true, "TOKEN": true}

// TestMisspeltKeys: every known key of a bundle and of a fleet, misspelt, is the first and only finding, which names the
// word and the right one: what follows from a field that is not read is not said beside it.
func TestMisspeltKeys(t *testing.T) {
	asObject := "apiVersion: hawser.dev/v1alpha1\nkind: Bundle\nmetadata:\n  name: shop\nspec:\n" +
		strings.TrimPrefix(wholeBundle, "bundle:\n  apiVersion: v1alpha1\n  name: shop\n")
	for form, text := range map[string]string{"bundle": wholeBundle, "object": asObject, "fleet": wholeFleet} {
		if fs := misspeltFindings(t, text); len(fs) > 0 {
			t.Fatalf("%s is not valid: %v", form, fs)
		}
		lines, n := strings.Split(text, "\n"), 0
		for i, line := range lines {
			m := keyLine.FindStringSubmatch(line)
			if m == nil || free[m[2]] || m[2] == "key" && strings.Contains(lines[i-1], "object") {
				continue
			}
			n++
			wrong := m[2] + "x"
			changed := append([]string(nil), lines...)
			changed[i] = m[1] + wrong + strings.TrimPrefix(line, m[1]+m[2])
			fs := misspeltFindings(t, strings.Join(changed, "\n"))
			want := fmt.Sprintf("b.yaml:%d:%d:", i+1, len(m[1])+1)
			if len(fs) != 1 || fs[0].What != fmt.Sprintf("unknown field %q", wrong) || fs[0].Fix != fmt.Sprintf("did you mean %q?", m[2]) ||
				!strings.Contains(fs[0].String(), want) {
				t.Errorf("%s: %s for %s in line %d: %d findings, want one at %s\n%v", form, wrong, m[2], i+1, len(fs), want, fs)
			}
		}
		if n < 10 {
			t.Errorf("%s: only %d keys were misspelt", form, n)
		}
	}
}

// misspeltFindings are the findings of a load, and when it has no errors, of an evaluation.
func misspeltFindings(t *testing.T, text string) diag.Findings {
	p, fs := loadText(t, "b.yaml", text)
	if p == nil || fs.HasErrors() || p.Fleet() != nil {
		return fs
	}
	_, fs = p.Evaluate(fleet.Facts{Name: "a", Labels: map[string]string{"version": "1.0.0", "team": "x", "region": "eu",
		"mirror": "https://charts.example.org", "dir": "."}})
	return fs
}

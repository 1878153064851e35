package advice

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// A name that cannot be one is answered with one like it that can.
func TestFor(t *testing.T) {
	for name, want := range map[string]string{"My_Space": "for example my-space", "MySpace": "for example my-space", "-x-": "for example x", "Ümlaut": "for example mlaut",
		"a b": "for example a-b", "***": "", "": "", strings.Repeat("A", 70): "for example " + strings.Repeat("a", 63), "fine": ""} {
		if got := For(diag.Errorf("invalid-name", "%q cannot be the name of a namespace", name)).Fix; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := For(diag.Errorf("wrong-version", "apiVersion must be %q, is %q", "v1alpha1", "v1")).Fix; !strings.HasPrefix(got, "write apiVersion: v1alpha1, that of Hawser's documents; ") {
		t.Error(got)
	}
	if got := For(diag.Errorf("wrong-version", "apiVersion must be %q, is %q", "v1alpha1", "v1alpha2")).Fix; got != "write apiVersion: v1alpha1" {
		t.Error(got)
	}
	if got := For(diag.Errorf("missing-field", "%s is required", "namespace")).Fix; !strings.HasPrefix(got, "namespace: NAME is where") {
		t.Error(got)
	}
	for path, want := range map[string]string{"fleet.secretStores.vault.kube.namespace": "kube: {namespace: NAME}", "spec.secretStores.x.file.path": "file: {path: ./DIR}", "fleet.secretStores.x.sops.path": "sops: {path: ./DIR}", "instances.web.path": ""} {
		f := diag.Errorf("missing-field", "%s is required", path[strings.LastIndex(path, ".")+1:])
		if f.Path = path; !strings.Contains(For(f).Fix, want) || want == "" && For(f).Fix != "" || strings.Contains(For(f).Fix, "objects go") {
			t.Errorf("%s: %s", path, For(f).Fix)
		}
	}
	if got := For(diag.Errorf("missing-field", "%s is required", "apiVersion")).Fix; got != "write apiVersion: v1alpha1" {
		t.Error(got)
	}
	twice := diag.Errorf("cue", `conflicting values "other" and "shop"`)
	if twice.Path = "bundle.name"; !strings.HasPrefix(For(twice).Fix, "one bundle has one name: ") {
		t.Error(For(twice).Fix)
	}
	if twice.Path = "bundle.instances.a.values.name"; For(twice).Fix != "" {
		t.Error("a value is no name of a bundle")
	}
	own := diag.Errorf("invalid-name", "%q is none", "A")
	own.Fix = "mine"
	if For(own).Fix != "mine" || For(diag.Errorf("other", "%q is none", "A")).Fix != "" {
		t.Error("a Fix of its own, or another finding, is changed")
	}
}

// A field that stands elsewhere is answered with its place, one that is nearly another with that, and what is no document with what it is.
func TestFields(t *testing.T) {
	for path, want := range map[string]string{
		"bundle.instances.web.chart": "helm: {chart: ./DIR}", "bundle.instances.web.clusters": "placement: {clusters: [...]}", "bundle.instances.web.group": "placement: {groups: [...]}",
		"bundle.instances.web.helm.repository": `did you mean "repo"?`, "bundle.instances.web.valuesFiles": "from: {file", "bundle.instances.web.other": "known here: module",
		"bundle.clusters": "known here: module", "services": "Compose", "replicas": "a file of values is named in a bundle",
	} {
		f := diag.Errorf("unknown-field", "unknown field")
		f.Path, f.Fix = path, "known here: module"
		if got := For(f).Fix; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		if f.Fix = "did you mean x?"; For(f).Fix != f.Fix {
			t.Errorf("%s: %q", path, For(f).Fix)
		}
	}
	for group, want := range map[string]string{"argoproj.io": "Argo CD", "helm.toolkit.fluxcd.io": "Flux", "kustomize.config.k8s.io": "kustomize: {path: DIR}"} {
		if !strings.Contains(Kind(group, ""), want) {
			t.Errorf("%s: %q", group, Kind(group, ""))
		}
	}
	if Kind("apps", "install it") != "install it" {
		t.Error("an ordinary group")
	}
}

package kustomize

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// Each field that the library warns of is a finding with its file and line, and no other one is.
func TestDeprecated(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kustomization.yaml": "bases: [base]\ncommonLabels: {a: b}\nimageTags: [{name: nginx, newTag: \"1\"}]\nlabels: [{pairs: {c: d}}]\nvars: null\n",
		"base/kustomization.yaml": "resources: [a.yaml]\npatchesStrategicMerge:\n- |\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data: {x: y}\n" +
			"patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: a}, patch: '[{\"op\": \"add\", \"path\": \"/data/z\", \"value\": \"1\"}]'}]\nvars: []\n",
		"base/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	res, err := New(Options{}).Render(t.Context(), request(dir, "."))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range res.Findings {
		rel, err := filepath.Rel(dir, f.Pos.File)
		if err != nil || f.Code != "kustomize-deprecated" {
			rel = f.Pos.File
		}
		got = append(got, fmt.Sprintf("%s %s:%d %s", f.Code, filepath.ToSlash(rel), f.Pos.Line, f.Path))
	}
	slices.Sort(got)
	want := []string{"kustomize-deprecated base/kustomization.yaml:2 patchesStrategicMerge", "kustomize-deprecated base/kustomization.yaml:8 patchesJson6902",
		"kustomize-deprecated base/kustomization.yaml:9 vars", "kustomize-deprecated kustomization.yaml:1 bases", "kustomize-deprecated kustomization.yaml:2 commonLabels",
		"kustomize-deprecated kustomization.yaml:3 imageTags"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	// The library knows no other ones.
	var all types.Kustomization
	if err := yaml.Unmarshal([]byte("bases: []\ncommonLabels: {}\nimageTags: []\npatchesJson6902: []\npatchesStrategicMerge: []\nvars: []\n"), &all); err != nil {
		t.Fatal(err)
	}
	if said := all.CheckDeprecatedFields(); len(*said) != len(deprecated) {
		t.Errorf("the library warns of %q", *said)
	}
}

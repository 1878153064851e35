package kustomize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratorErrorsQuoteNothing: errors about the sources of generators say what is wrong, never what stands there.
func TestGeneratorErrorsQuoteNothing(t *testing.T) {
	const canary = "canary-pa55"
	for name, c := range map[string]struct{ kustomization, env string }{
		"invalid utf8":        {"secretGenerator: [{name: s, envs: [e.env]}]\n", "P=" + canary + "\xff\n"},
		"a literal's no pair": {"secretGenerator: [{name: s, literals: [" + canary + "]}]\n", ""},
		"a literal's no key":  {"configMapGenerator: [{name: s, literals: [\"=" + canary + "\"]}]\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"kustomization.yaml": c.kustomization, "e.env": c.env} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := New(Options{}).Render(t.Context(), request(dir, "."))
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); strings.Contains(text, canary) || strings.Contains(text, "99 97 110 97 114 121") {
				t.Errorf("the error quotes the source: %s", text)
			}
		})
	}
}

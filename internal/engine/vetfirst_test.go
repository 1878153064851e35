package engine

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/values"
)

// What a bundle takes of a Secret that a bundle it requires brings is checked and built before either was applied, as it can be planned: with a
// warning by vet, and by build where stand-ins may be printed. Once the first one is installed as the files say, what is not there is a mistake.
func TestVetOfWhatARequiredBundleBrings(t *testing.T) {
	t.Parallel()
	r := chartRig(t, pastedChart)
	a, b := r.pair("", "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {image: nginx}\n", "")
	r.refers(&a, &b, `resource: pods, image: "ref://vault:db/image"`)
	r.requires(a, b)
	alone := b
	a.Among = []string{a.Bundle, b.Bundle}
	b.Among = a.Among
	code := func(fs diag.Findings, severity diag.Severity) bool {
		return slices.ContainsFunc(fs, func(f diag.Finding) bool {
			return f.Code == values.CodeNotRead && f.Severity == severity && strings.Contains(f.What, "known only when bundle "+a.Bundle+" is done")
		})
	}
	out, err := r.Vet(t.Context(), b)
	if err != nil || !code(out.Findings, diag.Warning) {
		t.Errorf("vet: %v", err)
	}
	if _, err := r.Build(t.Context(), b); !code(diag.From(err, ""), diag.Error) {
		t.Errorf("build: %v", err)
	}
	printed := b
	printed.Placeholders = true
	if built, err := r.Build(t.Context(), printed); err != nil || len(built.Items) != 1 || len(built.Items[0].Objects) == 0 {
		t.Errorf("build with stand-ins: %v", err)
	}
	if _, err := r.Vet(t.Context(), alone); err == nil || !strings.Contains(err.Error(), "requires ("+a.Bundle+")") {
		t.Errorf("vet of the second alone: %v", err)
	}

	r.carried(r.plan(a), a)
	if out, err := r.Vet(t.Context(), b); err != nil || code(out.Findings, diag.Warning) {
		t.Errorf("vet of what is there: %v", err)
	}
	r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "db/image", "dbb/image", 1))
	if _, err := r.Vet(t.Context(), b); err == nil || !strings.Contains(err.Error(), "ref://vault:dbb/image") {
		t.Errorf("vet of a name that nothing brings: %v", err)
	}
	if _, err := r.Build(t.Context(), b); err == nil || !strings.Contains(err.Error(), "hawser vet --stand-ins") {
		t.Errorf("build of a name that nothing brings: %v", err)
	}
	// With stand-ins it stands for itself, as what no store gives does, and that is said once.
	stands := func(fs diag.Findings) bool {
		return slices.ContainsFunc(fs, func(f diag.Finding) bool {
			return f.Code == "stand-ins" && strings.Contains(f.What, "1 reference is not read, and stands for itself: ref://vault:dbb/image")
		})
	}
	if built, err := r.Build(t.Context(), printed); err != nil || !stands(built.Findings) {
		t.Errorf("build of it with stand-ins: %v", err)
	}
	if out, err := r.Vet(t.Context(), printed); err != nil || !stands(out.Findings) {
		t.Errorf("vet of it with stand-ins: %v", err)
	}
}

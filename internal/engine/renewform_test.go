package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/staleplan"
)

// A value of a Secret that another bundle of the run writes is taken in the same run also where a chart takes no text but one of a form (its schema, a
// number, base64), in objects that are told as known later. Where the chart goes another way with the value the bundle is refused, and the
// plan said that it could be.
func TestRenewedReferenceOfAForm(t *testing.T) {
	t.Parallel()
	const schema = `{"properties": {"v": {"type": "string", "pattern": "^[a-z]+://"}}}`
	for name, c := range map[string]struct {
		schema, template string
		value, want      string
		refused          bool
	}{
		"a URI":       {schema, "{{ .Values.v | quote }}", "postgres://db", "postgres://db", false},
		"a number":    {"", "{{ .Values.v | int | quote }}", "5432", "5432", false},
		"base64":      {"", "{{ .Values.v | b64dec | quote }}", "aHVudGVyMjI=", "hunter22", false},
		"another way": {"", `{{ if eq .Values.v "a" }}one{{ else }}two{{ end }}`, "a", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {text: "+c.template+", own: one}\n")
			if c.schema != "" {
				r.write("chart/values.schema.json", c.schema)
			}
			a, b := r.pair("", fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {v: %q}\n", c.value), "")
			r.refers(&a, &b, `v: "ref://vault:db/v"`)
			r.requires(a, b)
			first, second, req := r.both(a, b)
			if !slices.ContainsFunc(second.Clusters[0].Plan.Changes, func(ch plan.Change) bool {
				return c.refused || ch.Ref.Name == "copy" && slices.Equal(ch.After, []string{"bundle " + a.Bundle})
			}) {
				t.Error("it is not told as known later")
			}
			r.carried(first, a)
			renewed, err := r.Renew(t.Context(), second, req)
			if c.refused {
				if n := diag.From(err, ""); len(n) != 1 || n[0].Code != staleplan.CodeStale || !strings.Contains(fmt.Sprint(second.Findings), "goes another way") {
					t.Errorf("%v after %v", err, second.Findings)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r.carried(renewed, req)
			cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "copy", metav1.GetOptions{})
			if err != nil || cm.Data["text"] != c.want || cm.Data["own"] != "one" {
				t.Errorf("%v %v", cm.Data, err)
			}
			b.Among = nil
			if fp := r.plan(b); !fp.settled() {
				t.Errorf("left to do: %+v %v", fp.Clusters[0].Plan.Changes, fp.Findings)
			}
		})
	}
}

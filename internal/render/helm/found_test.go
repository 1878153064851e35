package helm

import (
	"maps"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/render"
)

// keyed is idiom with one entry more in front where the values want it, and, as many charts have it, a checksum of the Secret in what takes it.
func keyed(helper string) map[string]string {
	out := maps.Clone(idiom)
	out["a.yaml"] = strings.Replace(out["a.yaml"], "data:\n", `data:
{{- if .Values.more }}
  a-new: {{ include "pw" (dict "root" . "key" "a-new") }}
{{- end }}
`, 1)
	out["0.yaml"] = `apiVersion: v1
kind: ConfigMap
metadata: {name: uses, annotations: {checksum/secret: {{ include (print $.Template.BasePath "/a.yaml") . | sha256sum }}}}
`
	if helper != "" {
		out["_h.tpl"] = helper
	}
	return out
}

// strict is the helper of charts that fail where the Secret is there and has no such entry.
const strict = `{{- define "pw" -}}
{{- $there := lookup "v1" "Secret" .root.Release.Namespace "made" -}}
{{- if $there.data -}}
{{- if hasKey $there.data .key -}}{{ index $there.data .key }}{{- else -}}{{ fail (printf "the Secret has no %s" .key) }}{{- end -}}
{{- else if .given -}}
{{ .given | b64enc }}
{{- else -}}
{{ randAlphaNum 16 | b64enc }}
{{- end -}}
{{- end -}}`

// TestFoundByKey: whatever entries come, go or are given, each of those that were made keeps its own, a new one gets none of theirs, and the same comes out the
// next time, without anything made.
func TestFoundByKey(t *testing.T) {
	for name, templates := range map[string]map[string]string{"usual": keyed(""), "strict": keyed(strict), "without a checksum": {"_h.tpl": keyed("")["_h.tpl"], "a.yaml": keyed("")["a.yaml"]}} {
		t.Run(name, func(t *testing.T) {
			req := chartOf(t, "", templates)
			req.Chance = numbered("one")
			first := rendered(t, req)
			admin, user := field(t, first, "made", "admin"), field(t, first, "made", "user")
			again := func(values string, answers chance.Answers, seed string) render.Result {
				next := chartOf(t, values, templates)
				if next.Answers = answers; seed != "" {
					next.Chance = numbered(seed)
				}
				return rendered(t, next)
			}
			if same := again("", first.Answers, ""); same.Open > 0 || digestOf(same.Objects) != digestOf(first.Objects) {
				t.Fatalf("it is not the same again: %d open", same.Open)
			}
			for values, want := range map[string]string{"admin: mine": "mine " + user, "user: mine": admin + " mine", "more: true": admin + " " + user, "{more: true, user: mine}": admin + " mine"} {
				if open := again(values, first.Answers, ""); (open.Open > 0) != strings.Contains(values, "more") {
					t.Errorf("%s: %d open", values, open.Open)
				}
				res := again(values, first.Answers, "two")
				if got := field(t, res, "made", "admin") + " " + field(t, res, "made", "user"); got != want {
					t.Errorf("%s gives %s, want %s", values, got, want)
				}
				if !strings.Contains(values, "more") {
					continue
				}
				added := field(t, res, "made", "a-new")
				if added == admin || added == user || len(added) != 16 {
					t.Errorf("%s: the new entry has %s", values, added)
				}
				if same := again(values, res.Answers, ""); same.Open > 0 || digestOf(same.Objects) != digestOf(res.Objects) {
					t.Errorf("%s: it is not the same again: %d open, %v", values, same.Open, res.Answers.Secrets)
				}
				if back := again("", res.Answers, ""); back.Open > 0 || digestOf(back.Objects) != digestOf(first.Objects) {
					t.Errorf("%s: without it there are others", values)
				}
			}
		})
	}
}

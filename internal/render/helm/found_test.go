package helm

import (
	"encoding/base64"
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

// eager makes one up whether it finds one or not.
const eager = `{{- define "pw" -}}
{{- $there := (lookup "v1" "Secret" .root.Release.Namespace "made").data | default dict -}}
{{- $new := randAlphaNum 16 | b64enc -}}
{{- get $there .key | default (.given | default "" | b64enc) | default $new -}}
{{- end -}}`

// TestFoundByKey: whatever entries come, go or are given, each of those that were made keeps its own, a new one gets none of theirs, and the same comes out the
// next time, without anything made.
func TestFoundByKey(t *testing.T) {
	plain := keyed("") // another takes an answer of the same place, and is in no Secret
	plain["z.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {k: {{ include \"pw\" (dict \"root\" . \"key\" \"nowhere\") }}}\n"
	install := keyed("") // something is declared as long as the Secret is not found
	install["z.yaml"] = "{{- if not (lookup \"v1\" \"Secret\" .Release.Namespace \"made\") }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\n{{- end }}\n"
	for name, templates := range map[string]map[string]string{"beside a plain one": plain, "usual": keyed(""), "strict": keyed(strict), "eager": keyed(eager), "beside one of the first install": install, "without a checksum": {"_h.tpl": keyed("")["_h.tpl"], "a.yaml": keyed("")["a.yaml"]}} {
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
				if name == "beside a plain one" && field(t, res, "plain", "k") != field(t, first, "plain", "k") {
					t.Errorf("%s: what is in no Secret changed", values)
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

// TestGoneFromItsSecret: who comes gets nothing of one who went, at once or later, and who comes back has what was its own.
func TestGoneFromItsSecret(t *testing.T) {
	templates := maps.Clone(idiom)
	templates["a.yaml"] = `apiVersion: v1
kind: Secret
metadata: {name: made}
data:
{{- range .Values.users }}
  {{ . }}: {{ include "pw" (dict "root" $ "key" .) }}
{{- end }}
`
	steps := [][]string{{"a", "b", "c"}, {"a", "b", "d"}, {"b", "d"}, {"x", "b", "d"}, {"c", "a", "x", "b"}, {"a", "b", "c", "d", "x"}}
	had, answers := map[string]string{}, chance.Answers{}
	for i, users := range steps {
		req := chartOf(t, "users: ["+strings.Join(users, ", ")+"]", templates)
		req.Answers, req.Chance = answers, numbered(strings.Repeat("i", i+1))
		res := rendered(t, req)
		if !res.Answers.IsZero() {
			answers = res.Answers
		}
		for _, user := range users {
			got := field(t, res, "made", user)
			if had[user] == "" {
				for other, theirs := range had {
					if theirs == got {
						t.Errorf("run %d: %s has what is %s's", i, user, other)
					}
				}
				had[user] = got
			}
			if had[user] != got {
				t.Errorf("run %d: %s has another one", i, user)
			}
		}
	}
}

// TestFoundBesideOthers: an entry that the chart makes up without a look at its Secret keeps its answer, whatever else is made or given, with what was kept of
// look-ups and where a Secret of before is read.
func TestFoundBesideOthers(t *testing.T) {
	templates := map[string]string{"a.yaml": `{{- $there := (lookup "v1" "Secret" .Release.Namespace "made").data | default dict }}
apiVersion: v1
kind: Secret
metadata: {name: made}
data:
  found: {{ get $there "found" | default (randAlphaNum 20 | b64enc) }}
  plain: {{ .Values.plain | default (randAlphaNum 20) | b64enc }}
{{- if .Values.more }}
  id: {{ uuidv4 | b64enc }}
{{- end }}
stringData: {other: {{ .Values.other | quote }}}
`}
	req := chartOf(t, "other: a", templates)
	req.Chance = numbered("one")
	first := rendered(t, req)
	found, plain := field(t, first, "made", "found"), field(t, first, "made", "plain")
	read := first.Answers
	read.Secrets = map[string]map[string]string{"shop/made": {"found": base64.StdEncoding.EncodeToString([]byte(found)), "plain": base64.StdEncoding.EncodeToString([]byte(plain))}}
	for name, answers := range map[string]chance.Answers{"kept": first.Answers, "read": read} {
		for _, values := range []string{"other: b", "more: true", "{more: true, other: c}"} {
			next := chartOf(t, values, templates)
			next.Answers, next.Chance = answers, numbered("two")
			res := rendered(t, next)
			if f, p := field(t, res, "made", "found"), field(t, res, "made", "plain"); f != found || p != plain {
				t.Errorf("%s, %s: %s %s, want %s %s", name, values, f, p, found, plain)
			}
			if !strings.Contains(values, "more") {
				continue
			}
			next.Chance = nil
			if next.Answers = res.Answers; digestOf(rendered(t, next).Objects) != digestOf(res.Objects) {
				t.Errorf("%s, %s: it is not the same again", name, values)
			}
		}
	}
}

package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/chartdir"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/helm"
)

// madeTemplates make a password, find it again as charts do, and hand a copy of another one to a ConfigMap.
const madeTemplates = `{{- $there := lookup "v1" "Secret" .Release.Namespace "login" }}
apiVersion: v1
kind: Secret
metadata: {name: login}
data:
  found: {{ if $there }}{{ $there.data.found }}{{ else }}{{ randAlphaNum 20 | b64enc }}{{ end }}
  kept: {{ .Values.kept | default (randAlphaNum 20) | b64enc }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {text: {{ .Values.text | quote }}, token: {{ uuidv4 }}}
`

// chartRig is a rig with a chart that makes values up.
func chartRig(t *testing.T, templates string) *rig {
	t.Helper()
	r := newRig(t)
	r.Renderers["helm"] = helm.New(helm.Options{Redact: r.Redactor.Redact})
	r.Fetchers = map[string]module.Fetcher{module.ChartScheme + "file": chartdir.New(cache.Open(cache.Options{Dir: t.TempDir()}))}
	r.write("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
	r.write("chart/templates/a.yaml", templates)
	r.values("text: one")
	return r
}

// again is the same rig in another process.
func (r *rig) again(t *testing.T) *rig {
	t.Helper()
	next := chartRig(t, "")
	next.name, next.dir = r.name, r.dir
	return next
}

func (r *rig) values(values string) {
	r.t.Helper()
	r.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  instances:\n    app:\n      namespace: "+r.name+
		"\n      helm: {chart: ./chart}\n      values: {"+values+"}\n")
}

// made are the values in the cluster.
func (r *rig) made() (found, kept, token string) {
	r.t.Helper()
	s, err := r.admin.CoreV1().Secrets(r.name).Get(r.t.Context(), "login", metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(r.t.Context(), "copy", metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return string(s.Data["found"]), string(s.Data["kept"]), cm.Data["token"]
}

func (r *rig) keptSecret() (*corev1.Secret, error) {
	name := "hawser-" + object.OwnerID("", "", r.name) + "-kept"
	return r.admin.CoreV1().Secrets(object.SystemNamespace).Get(r.t.Context(), name, metav1.GetOptions{})
}

// What a chart makes up is made once: unchanged costs nothing, a change and another process find it, a given value goes
// before, a rotation makes it anew, and a delete forgets it.
func TestMadeOnceKept(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	fp := r.plan(r.request())
	out, err := r.Apply(t.Context(), fp, r.request())
	if err != nil {
		t.Fatalf("%v %+v", err, out)
	}
	found, kept, token := r.made()
	if len(found) != 20 || len(kept) != 20 || found == kept || len(token) != 36 || strings.HasPrefix(found, "generated") {
		t.Fatalf("made %q %q %q", found, kept, token)
	}
	shown, err := json.Marshal(fp)
	if err != nil || strings.Contains(string(shown), found) || strings.Contains(string(shown), token) {
		t.Error("the plan shows a made-up value")
	}
	if text := r.Redactor.Redact("a " + kept + " b " + token); strings.Contains(text, kept) || strings.Contains(text, token) {
		t.Errorf("not secret: %s", text)
	}
	s, err := r.keptSecret()
	if err != nil || bytes.Contains(s.Data["record"], []byte(kept)) {
		t.Fatalf("kept: %v", err)
	}

	next := r.again(t)
	if fp := next.plan(next.request()); !fp.settled() || fp.Stats.Renders != 0 {
		t.Errorf("unchanged: %+v after %d renders", fp.Counts(), fp.Stats.Renders)
	}
	if text := next.Redactor.Redact(kept + token); strings.Contains(text, kept) || strings.Contains(text, token) {
		t.Errorf("another process does not know that it is secret: %s", text)
	}
	next.applied(next.request())
	if now, err := r.keptSecret(); err != nil || now.ResourceVersion != s.ResourceVersion {
		t.Error("an unchanged apply writes what is kept")
	}
	next.values("text: two")
	if out := next.applied(next.request()); out.Clusters[0].Done.Update != 1 {
		t.Errorf("a change: %+v", out.Clusters[0].Done)
	}
	if a, b, c := r.made(); a != found || b != kept || c != token {
		t.Error("a change of something else made new values")
	}
	next.values("text: two, kept: mine")
	next.applied(next.request())
	if a, b, _ := r.made(); a != found || b != "mine" {
		t.Errorf("given: %s %s", a, b)
	}
	next.values("text: two")
	next.applied(next.request())
	if _, b, _ := r.made(); b != kept {
		t.Error("going back does not find what was made")
	}
	req := next.request()
	req.Bundle, docs(&req).Files = r.name, nil
	gone, err := next.Plan(t.Context(), req.For(Delete))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Apply(t.Context(), gone, req); err != nil {
		t.Fatal(err)
	}
	if _, err := r.keptSecret(); err == nil {
		t.Error("a deleted bundle leaves its passwords behind")
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	r.applied(r.request())
	found, kept, token := r.made()
	req := r.request()
	for rotate, want := range map[string]string{
		"app/nothing": "there is: app/templates/a.yaml:randAlphaNum, app/templates/a.yaml:uuidv4",
		"ap":          `no instance "ap" (there is: app)`,
	} {
		req.Rotate = []string{rotate}
		if _, err := r.Plan(t.Context(), req); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", rotate, err)
		}
	}
	req.Rotate = []string{"app/uuidv4"}
	fp := r.plan(req)
	if c := fp.Counts(); c.Update != 1 {
		t.Errorf("plan of a rotation: %+v", c)
	}
	if _, err := r.Apply(t.Context(), fp, req); err != nil {
		t.Fatal(err)
	}
	if a, b, c := r.made(); a != found || b != kept || c == token {
		t.Errorf("one name: %t %t %t", a == found, b == kept, c == token)
	}
	req.Rotate = []string{"app"}
	r.applied(req)
	if a, b, _ := r.made(); a == found || b == kept {
		t.Errorf("all: %t %t", a == found, b == kept)
	}
	if fp := r.plan(r.request()); !fp.settled() || fp.Stats.Renders != 0 {
		t.Errorf("after it: %+v after %d renders", fp.Counts(), fp.Stats.Renders)
	}
}

// A Secret that is lost does not change every password silently.
func TestKeptValuesLost(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	r.applied(r.request())
	s, err := r.keptSecret()
	if err == nil {
		err = r.admin.CoreV1().Secrets(s.Namespace).Delete(t.Context(), s.Name, metav1.DeleteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Plan(t.Context(), r.request()); err == nil || !strings.Contains(err.Error(), "--rotate app") {
		t.Errorf("lost: %v", err)
	}
	req := r.request()
	req.Rotate = []string{"app"}
	r.applied(req)
}

// A saved plan holds nothing of what is made when it is applied, and its digests hold all the same.
func TestSavedPlanOfMadeValues(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	var file bytes.Buffer
	if _, _, err := r.SavePlan(r.plan(r.request()), &file); err != nil {
		t.Fatal(err)
	}
	next := r.again(t)
	fp, err := next.LoadPlan(t.Context(), &file, next.request())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := next.Apply(t.Context(), fp, next.request()); err != nil {
		t.Fatalf("%v %+v", err, out)
	}
	found, _, token := r.made()
	if strings.Contains(file.String(), found) || strings.Contains(file.String(), token) || len(token) != 36 {
		t.Errorf("the file holds %s or %s", found, token)
	}
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("after it: %+v", fp.Counts())
	}

	named := chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'x-{{ randAlpha 5 | lower }}'}\n")
	if _, _, err := named.SavePlan(named.plan(named.request()), &file); err == nil || !strings.Contains(err.Error(), "cannot be saved") {
		t.Errorf("made-up names: %v", err)
	}
	named.applied(named.request())
	if fp := named.plan(named.request()); !fp.settled() {
		t.Errorf("made-up names, again: %+v", fp.Counts())
	}
}

// A release that is taken over from Helm keeps the password that its chart would find.
func TestMadeValuesOfOthers(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.admin.CoreV1().Secrets(r.name).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"},
		Data: map[string][]byte{"found": []byte("of-helm-itself")}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	req := r.request()
	req.Adopt = true
	r.applied(req)
	if found, _, _ := r.made(); found != "of-helm-itself" {
		t.Errorf("found %s", found)
	}
	if fp := r.plan(r.request()); !fp.settled() || fp.Stats.Renders != 0 {
		t.Errorf("after it: %+v after %d renders", fp.Counts(), fp.Stats.Renders)
	}
	r.values("text: two")
	r.applied(r.request())
	if found, _, _ := r.made(); found != "of-helm-itself" {
		t.Errorf("after a change: found %s", found)
	}
}

// Without a cluster there are placeholders, and a warning.
func TestMadeValuesOffline(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	req := r.request()
	req.Access.Context = ""
	req.Publish = true
	if _, err := r.Build(t.Context(), req); err == nil || !strings.Contains(err.Error(), "--stand-ins") {
		t.Errorf("a build writes placeholders unasked: %v", err)
	}
	req.Placeholders = true
	if _, err := r.Build(t.Context(), req); err != nil {
		t.Errorf("a build does not write placeholders: %v", err)
	}
	req.Publish, req.Placeholders = false, false
	built, err := r.Build(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	codes := ""
	for _, f := range built.Findings {
		codes += f.Code
	}
	text := ""
	for _, o := range built.Items[0].Objects {
		data, _ := json.Marshal(o.Body)
		text += string(data)
	}
	if codes != render.CodePlaceholder || !strings.Contains(text, "00000000-0000-4000-8000") {
		t.Errorf("findings %s, objects %s", codes, text)
	}
	vetted, err := r.Vet(t.Context(), req)
	if err != nil || len(vetted.Findings) != 1 || vetted.Findings[0].Code != render.CodePlaceholder {
		t.Errorf("vet: %v, %v", vetted, err)
	}
	if _, err := r.keptSecret(); err == nil {
		t.Error("a build writes to a cluster")
	}
}

// Two writers that make values for the same bundle: one of them is stale before anything is written.
func TestMadeByTwo(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	other := r.again(t)
	first, second := r.plan(r.request()), other.plan(other.request())
	if _, err := r.Apply(t.Context(), first, r.request()); err != nil {
		t.Fatal(err)
	}
	found, _, token := r.made()
	if out, err := other.Apply(t.Context(), second, other.request()); err == nil {
		t.Errorf("the second: %+v", out)
	}
	if a, _, c := r.made(); a != found || c != token {
		t.Error("the second wrote its own values")
	}
}

// A bundle's own {generate: ...} is made once and kept like what a chart makes up.
func TestGenerateInBundle(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {p: '{{ .Values.p }}', text: '{{ .Values.text }}'}\n")
	password := func() string {
		s, err := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "login", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(s.Data["p"])
	}
	r.values("text: one, p: {generate: {length: 24}}")
	req := r.request()
	req.Access.Context = ""
	req.Publish = true
	if _, err := r.Build(t.Context(), req); err == nil || !strings.Contains(err.Error(), "--stand-ins") {
		t.Errorf("a build writes a placeholder unasked: %v", err)
	}
	req.Publish = false
	built, err := r.Build(t.Context(), req)
	if err != nil || len(built.Findings) != 1 || built.Findings[0].Code != render.CodePlaceholder {
		t.Errorf("build: %v, %v", built, err)
	}
	var file bytes.Buffer
	if _, _, err := r.SavePlan(r.plan(r.request()), &file); err != nil {
		t.Fatal(err)
	}
	next := r.again(t)
	fp, err := next.LoadPlan(t.Context(), &file, next.request())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := next.Apply(t.Context(), fp, next.request()); err != nil {
		t.Fatalf("%v %+v", err, out)
	}
	first := password()
	if len(first) != 24 || strings.HasPrefix(first, "generated") || strings.Contains(file.String(), first) || next.Redactor.Redact(first) == first {
		t.Errorf("made %s", first)
	}
	next = r.again(t)
	if fp := next.plan(next.request()); !fp.settled() || fp.Stats.Renders != 0 {
		t.Errorf("unchanged: %+v after %d renders", fp.Counts(), fp.Stats.Renders)
	}
	r.values("text: two, p: {generate: {length: 24}}")
	next.applied(next.request())
	if password() != first {
		t.Error("a change of something else made a new value")
	}
	rotate := next.request()
	rotate.Rotate = []string{"app/values.p"}
	file.Reset()
	if _, _, err := next.SavePlan(next.plan(rotate), &file); err != nil {
		t.Fatal(err)
	}
	if fp, err = next.LoadPlan(t.Context(), &file, rotate); err != nil {
		t.Fatal(err)
	}
	if out, err := next.Apply(t.Context(), fp, rotate); err != nil {
		t.Fatalf("%v %+v", err, out)
	}
	second := password()
	if second == first || len(second) != 24 {
		t.Errorf("rotated: %s", second)
	}
	r.values("text: two, p: {generate: {length: 12, charset: digits}}")
	next.applied(next.request())
	if p := password(); len(p) != 12 || strings.Trim(p, "0123456789") != "" {
		t.Errorf("other parameters: %s", p)
	}
}

// What is computed of something that is made up when the plan is applied (a checksum, a part of a text, a name) is not shown
// as certain: the next plan would make another. What is written is what was made.
func TestComputedOfMadeValues(t *testing.T) {
	t.Parallel()
	const before = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sum}\ndata: {sum: old, plain: a}\n"
	r := chartRig(t, before)
	r.applied(r.request())
	r.write("chart/templates/a.yaml", `{{- $p := randAlphaNum 20 }}
apiVersion: v1
kind: ConfigMap
metadata: {name: sum}
data: {sum: {{ $p | sha256sum }}, plain: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: new}
data: {line: "user=x sum={{ $p | sha256sum }}", plain: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: 'named-{{ $p | sha256sum | trunc 8 }}'}
`)
	req := r.request()
	req.ShowDiff, req.ShowFields, req.ShowContent = true, true, true
	for _, diff := range []bool{true, false} {
		req.ShowDiff = diff
		for _, ch := range r.plan(req).Clusters[0].Plan.Changes {
			shown, err := json.Marshal([]any{ch.Fields, ch.Content["data"], ch.Why})
			want := map[string]string{"sum": `[[{"path":"data.plain","old":"\"a\"","new":"\"b\""},{"path":"data.sum","old":"\"old\"","new":"\"known at apply\""}],null,""]`,
				"new": `[null,{"line":"user=x sum=known at apply","plain":"b"},""]`}[ch.Ref.Name]
			if want == "" {
				want = `[null,null,"its name is made up when it is applied"]`
			}
			if err != nil || string(shown) != want {
				t.Errorf("diff %v, %s: %s, want %s", diff, ch.Ref, shown, want)
			}
		}
	}
	r.applied(r.request())
	sum, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "sum", metav1.GetOptions{})
	if err != nil || len(sum.Data["sum"]) != 64 {
		t.Errorf("%v %v", sum, err)
	}
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("after it: %+v", fp.Counts())
	}
}

// Nor is it where the making itself waits for values of another instance: both renders of the plan have placeholders then.
func TestComputedOfValuesMadeLate(t *testing.T) {
	t.Parallel()
	r, write := lateRig(t)
	write("one", "", "")
	r.write("chart/templates/b.yaml", "{{- $p := randAlphaNum 20 }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: sum}\ndata: {sum: '{{ $p | sha256sum }}', plain: b}\n")
	req := r.request()
	req.ShowContent = true
	for _, ch := range r.plan(req).Clusters[0].Plan.Changes {
		if ch.Ref.Name != "sum" {
			continue
		}
		if data, err := json.Marshal(ch.Content["data"]); err != nil || string(data) != `{"plain":"b","sum":"known after src"}` || !slices.Equal(ch.After, []string{"src"}) {
			t.Errorf("%s after %v", data, ch.After)
		}
	}
	r.applied(r.request())
	if sum, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "sum", metav1.GetOptions{}); err != nil || len(sum.Data["sum"]) != 64 {
		t.Errorf("%v %v", sum, err)
	}
}

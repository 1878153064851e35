package release_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
)

// cluster is a store with what bundles keep: "BUNDLE INSTANCE=VALUE ...". A bundle of that name in records has a record,
// which has the instances that are written there.
type cluster struct {
	release.Store
	release.Keeper
	reads []string
	list  error
	// closed are owners whose kept values may not be read.
	closed []string
}

func (c *cluster) Kept(ctx context.Context, owner string) (release.Kept, release.RecordVersion, error) {
	c.reads = append(c.reads, owner)
	if slices.Contains(c.closed, owner) {
		return nil, "", errors.New("forbidden")
	}
	return c.Keeper.Kept(ctx, owner)
}

func (c *cluster) Bundles(ctx context.Context, each func(release.Record) error) error {
	return errors.Join(c.Store.Bundles(ctx, each), c.list)
}

func clusterOf(t *testing.T, kept, records []string) *cluster {
	t.Helper()
	store := memory.New("a")
	made := map[string]map[string]string{}
	for _, text := range kept {
		words := strings.Fields(text)
		k := release.Kept{}
		for _, entry := range words[1:] {
			name, value, _ := strings.Cut(entry, "=")
			k[name] = chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: value}}}
		}
		if _, err := store.Keep(t.Context(), object.OwnerID("", "", words[0]), k, ""); err != nil {
			t.Fatal(err)
		}
		made[words[0]] = k.Digests()
	}
	for _, text := range records {
		words := strings.Fields(text)
		rec := release.Record{V: 1, Bundle: words[0], Owner: object.OwnerID("", "", words[0]), Revision: 1, Phase: release.Succeeded,
			Inputs: map[string]string{}, Made: made[words[0]]}
		for _, name := range words[1:] {
			rec.Inputs[name] = "key"
		}
		if _, err := store.Put(t.Context(), rec, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	return &cluster{Store: store, Keeper: store}
}

func specOf(name string, instances ...string) v1alpha1.BundleSpec {
	s := v1alpha1.BundleSpec{Name: name}
	for _, in := range instances {
		s.Instances = append(s.Instances, v1alpha1.Instance{Name: in})
	}
	return s
}

// TestBeside: of the other bundles of the files and of those that were removed from them, and of no others; what they keep is
// read where it matters.
func TestBeside(t *testing.T) {
	c := clusterOf(t, []string{"b db=B", "c web=C", "gone db=G", "foreign db=F"}, []string{"a", "b db", "c web", "gone db", "foreign db"})
	own := chance.Own{Owner: object.OwnerID("", "", "a"), Delivered: func(string) bool { return false }, Declared: []string{"db"}, Placed: []string{"db"}}
	spec := specOf("a", "db")
	abandoned := func(rec release.Record, _ bool) bool { return rec.Bundle != "foreign" }
	got, err := release.Beside(t.Context(), c, object.Scoping{}, own, spec, []v1alpha1.BundleSpec{specOf("b"), specOf("c", "web"), specOf("new", "db")}, abandoned)
	if err != nil || len(got) != 4 {
		t.Fatalf("%v: %+v", err, got)
	}
	for i, want := range []struct {
		bundle                    string
		kept, delivered, declares bool
	}{{"b", true, true, false}, {"c", false, false, false}, {"new", false, false, true}, {"gone", true, true, false}} {
		b := got[i]
		if b.Removed != (want.bundle == "gone") {
			t.Errorf("%s: removed %v", want.bundle, b.Removed)
		}
		if b.Owner != object.OwnerID("", "", want.bundle) || (len(b.Kept) > 0) != want.kept || b.Delivered("db") != want.delivered || b.Declares("db") != want.declares {
			t.Errorf("%s: %+v", want.bundle, b)
		}
	}
	if theirs, err := release.Beside(t.Context(), c, object.Scoping{}, own, spec, []v1alpha1.BundleSpec{specOf("foreign")}, abandoned); err != nil || len(theirs[0].Kept) > 0 || theirs[0].Delivered("db") {
		t.Errorf("of somebody else's bundle of the name: %+v, %v", theirs, err)
	}
	if len(c.reads) != 4 { // b and gone, twice
		t.Errorf("%d Secrets were read", len(c.reads))
	}
	c.list = errors.New("one is damaged")
	if _, err := release.Beside(t.Context(), c, object.Scoping{}, own, spec, nil, abandoned); err == nil {
		t.Error("what is not known is taken for nothing")
	}
	c.list, c.closed = nil, []string{object.OwnerID("", "", "b")}
	if _, err := release.Beside(t.Context(), c, object.Scoping{}, own, spec, []v1alpha1.BundleSpec{specOf("b")}, abandoned); err == nil {
		t.Error("what may not be read is taken for nothing")
	}
	c.list = errors.New("one is damaged")
	own.Delivered = func(string) bool { return true }
	if got, err := release.Beside(t.Context(), c, object.Scoping{}, own, spec, []v1alpha1.BundleSpec{specOf("b")}, abandoned); err != nil || len(got) != 3 {
		t.Errorf("nothing is new: %v, %+v", err, got)
	}
}

// TestBequeath: who deletes a bundle loses nothing that another bundle declares.
func TestBequeath(t *testing.T) {
	c := clusterOf(t, []string{"a db=A web=W x=X", "b web=Own", "theirs x=T"}, []string{"a db web", "b web", "theirs x"})
	rec, _, err := c.Current(t.Context(), object.OwnerID("", "", "a"))
	if err != nil {
		t.Fatal(err)
	}
	c.closed = []string{object.OwnerID("", "", "other")} // nothing goes there
	if err := release.Bequeath(t.Context(), c, object.Scoping{}, *rec, []v1alpha1.BundleSpec{specOf("b", "web"), specOf("new", "db"), specOf("other", "api"), specOf("theirs", "web")}, func(r release.Record, named bool) bool { return named && r.Bundle != "theirs" }); err != nil {
		t.Fatal(err)
	}
	for bundle, want := range map[string]string{"a": "", "b": "web=Own", "new": "db=A", "theirs": "x=T"} {
		kept, _, err := c.Kept(t.Context(), object.OwnerID("", "", bundle))
		var got []string
		for name, a := range kept {
			got = append(got, name+"="+a.Calls[0].Value)
		}
		slices.Sort(got)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s keeps %v, want %s (%v)", bundle, got, want, err)
		}
	}
}

// TestBesideElsewhere: what a bundle that was removed from the files keeps is for an instance where its objects are, and not
// for one of the name in another namespace.
func TestBesideElsewhere(t *testing.T) {
	own := chance.Own{Owner: object.OwnerID("", "", "a"), Delivered: func(string) bool { return false }, Declared: []string{"db"}, Placed: []string{"db"}}
	for _, c := range []struct {
		reason, namespace string
		objects           []object.Ref
		kept              bool
	}{
		{"its objects are there", "here", []object.Ref{{Kind: "Secret", Namespace: "there", Name: "x"}, {Kind: "Secret", Namespace: "here", Name: "x"}}, true},
		{"another tenant's", "here", []object.Ref{{Kind: "Secret", Namespace: "there", Name: "x"}, {Kind: "ClusterRole", Name: "x"}}, false},
		{"nothing is in a namespace", "here", []object.Ref{{Kind: "ClusterRole", Name: "x"}}, true},
		{"the namespace is not known", "", []object.Ref{{Kind: "Secret", Namespace: "there", Name: "x"}}, true},
	} {
		store := clusterOf(t, []string{"gone db=G"}, []string{"gone db"})
		rec, handle, err := store.Current(t.Context(), object.OwnerID("", "", "gone"))
		if err != nil {
			t.Fatal(err)
		}
		for rec.Revision = 2; len(rec.Inventory) < len(c.objects); {
			rec.Inventory = append(rec.Inventory, plan.InventoryEntry{Ref: c.objects[len(rec.Inventory)], Instance: "db"})
		}
		if _, err := store.Put(t.Context(), *rec, nil, handle); err != nil {
			t.Fatal(err)
		}
		spec := specOf("a", "db")
		spec.Instances[0].Namespace = c.namespace
		got, err := release.Beside(t.Context(), store, object.Scoping{}, own, spec, nil, func(release.Record, bool) bool { return true })
		if err != nil || len(got) != 1 || (len(got[0].Kept) > 0) != c.kept {
			t.Errorf("%s: %+v %v", c.reason, got, err)
		}
	}
}

// TestBesideDamaged: a record that cannot be read hides whose the values of a new instance are, which is told with what to do; a bundle
// without a new one goes on.
func TestBesideDamaged(t *testing.T) {
	t.Parallel()
	c := clusterOf(t, []string{"a web=1"}, []string{"a web"})
	c.list = fmt.Errorf("read secrets hawser-system/hawser-x: %w: its digest differs", release.ErrDamaged)
	beside := func(instances ...string) error {
		own := chance.Own{Owner: object.OwnerID("", "", "a"), Declared: instances, Placed: instances, Delivered: func(name string) bool { return name == "web" }}
		_, err := release.Beside(t.Context(), c, object.Scoping{}, own, specOf("a", instances...), []v1alpha1.BundleSpec{specOf("b", "db")}, func(release.Record, bool) bool { return true })
		return err
	}
	if err := beside("web"); err != nil {
		t.Errorf("nothing is new: %v", err)
	}
	err := beside("web", "new")
	if fe, ok := errors.AsType[*diag.FindingsError](err); !ok || fe.Findings[0].Code != "kept-values-unknown" || !strings.Contains(fe.Findings[0].Why, "hawser-x") || fe.Findings[0].Fix == "" {
		t.Errorf("a new one: %v", err)
	}
}

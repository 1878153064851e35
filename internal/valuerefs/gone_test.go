package valuerefs

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What is taken away while instances take values of it is found, for each of them by itself: objects that are deleted, Secrets by reference that are
// deleted or lose the key, by the bundle itself or by one that comes later.
func TestGone(t *testing.T) {
	uri := taken(t, "{instance: db, object: v1/Secret/conn, path: data.uri}")
	secret := body("db", "Secret", "conn", map[string]any{"url": "eA=="})
	ref := bind.From{At: "v", Ref: "ref://vault:conn/uri", Secret: secret.Ref(), Key: "uri"}
	elsewhere := bind.From{At: "v", Ref: "ref://file:conn/uri"}
	held := answers{value: "x", goes: true}
	for name, c := range map[string]struct {
		taker Taker
		fate  plan.Action
		idle  bool
		own   string // found of the bundle's own plan
		later string // found of another one's plan
	}{
		"an object that is deleted":             {Taker{Takes: []bind.From{uri}}, plan.Delete, false, conn + ", which api takes a value of, would be deleted", ""},
		"an object that is deleted, late":       {Taker{Takes: []bind.From{uri}, Open: []bind.From{uri}}, plan.Delete, false, "would be deleted", ""},
		"an object that is changed":             {Taker{Takes: []bind.From{uri}}, plan.Update, false, "", ""},
		"an object of which nothing is done":    {Taker{Takes: []bind.From{uri}}, "", false, "", ""},
		"by an instance with nothing to do":     {Taker{Takes: []bind.From{uri}, Refs: []bind.From{ref}}, plan.Delete, true, "", ""},
		"a reference to what is deleted":        {Taker{Refs: []bind.From{ref}}, plan.Delete, false, "this bundle deletes " + conn, "bundle b, which comes after a, deletes " + conn},
		"a reference to what loses the key":     {Taker{Refs: []bind.From{ref}}, plan.Update, false, "without uri", "without uri"},
		"a reference to what stays":             {Taker{Refs: []bind.From{ref}}, "", false, "", ""},
		"a reference to what is elsewhere":      {Taker{Refs: []bind.From{elsewhere}}, plan.Delete, false, "", ""},
		"a reference and a value of one Secret": {Taker{Takes: []bind.From{uri}, Refs: []bind.From{elsewhere}}, plan.Delete, false, "would be deleted", ""},
	} {
		c.taker.Instance = "api"
		r := references(table{of: map[string]answers{conn: held}}, []Taker{c.taker}, secret)
		if r.Suspended = map[string]bool{"api": c.idle}; c.taker.Takes != nil {
			r.Bodies = nil // Missing is another matter
		}
		fate := func(at object.Ref) plan.Action {
			if at == secret.Ref() {
				return c.fate
			}
			return ""
		}
		check := func(which, want string, fs []string) {
			if len(fs) > 1 || (want == "") != (len(fs) == 0) || want != "" && !strings.Contains(fs[0], want) {
				t.Errorf("%s, %s: %q", name, which, fs)
			}
		}
		texts := func(r References, before []Before) (out []string) {
			for _, f := range r.Given(t.Context(), nil, before, "b", fate) {
				if f.Instance != "api" || !strings.HasPrefix(f.Path, "values.") || f.Fix == "" {
					t.Errorf("%s: %+v", name, f)
				}
				out = append(out, f.String())
			}
			return out
		}
		check("by its own bundle", c.own, texts(r, nil))
		by := references(table{of: map[string]answers{conn: held}}, nil, secret)
		check("by a later one", c.later, texts(by, []Before{{Bundle: "a", Settled: func() bool { return true }, References: func() References { return r }}}))
	}
}

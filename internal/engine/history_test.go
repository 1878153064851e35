package engine

import (
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
)

// TestHistory: the releases that a cluster keeps, what changed between two of them with what is secret hidden, and clusters
// that do not answer, or whose records may not be read, are named and in no count.
func TestHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	secret := func(value string) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {token: " + value + "}\n"
	}
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: two\n  clusters:\n    here: {kubeContext: "+here+"}\n    lost: {kubeContext: down}\n")
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("old", "key: one")+secret("canary-one-7f3k")))
	req := r.request()
	req.SkipUnreachable, req.Message = true, "the first"
	if _, err := r.apply(req); !errors.Is(err, fleetplan.ErrPartial) {
		t.Fatal(err)
	}
	r.write("app.yaml", r.configMap("app", "key: two")+r.configMap("new", "key: one")+secret("canary-two-9q2z"))
	if _, err := r.apply(req); !errors.Is(err, fleetplan.ErrPartial) {
		t.Fatal(err)
	}
	look := req
	docs(&look).Files, look.Bundle = nil, r.name
	h, err := r.History(t.Context(), look)
	if !errors.Is(err, fleetplan.ErrPartial) || len(h.Unknown) != 1 || h.Unknown[0].Cluster != "lost" || len(h.Bundles) != 1 || len(h.Bundles[0].Releases) != 2 {
		t.Fatalf("%v %+v", err, h)
	}
	last, first := h.Bundles[0].Releases[0], h.Bundles[0].Releases[1]
	if last.Release != 2 || last.State != history.Succeeded || first.State != history.Superseded || first.Author != "tester" || first.Message != "the first" ||
		first.Done.Create != 4 || last.Done.Update != 2 || !last.Clusters[0].In || last.Clusters[1].Unknown == "" || len(last.Clusters[0].Instances) != 1 {
		t.Errorf("%+v\n%+v", last, first)
	}
	c := history.Releases("1", last.Rollout)
	err = r.Compare(t.Context(), look, c)
	if !errors.Is(err, fleetplan.ErrPartial) || len(c.Clusters) != 2 || c.Clusters[1].Unknown == "" || c.Clusters[1].Plan != nil {
		t.Fatalf("%v %+v", err, c)
	}
	var got []string
	for _, ch := range c.Clusters[0].Plan.Changes {
		line := ch.Action.Mark() + ch.Ref.Kind + "/" + ch.Ref.Name
		for _, f := range ch.Fields {
			line += " " + f.Path + " " + f.Old + f.New
		}
		got = append(got, line)
	}
	if text := strings.Join(got, "\n"); !strings.Contains(text, `~ConfigMap/app data.key "one""two"`) || !strings.Contains(text, "-ConfigMap/old") ||
		!strings.Contains(text, "+ConfigMap/new") || !strings.Contains(text, "~Secret/token") || strings.Contains(text, "canary") {
		t.Errorf("%s", text)
	}
	if err := r.Compare(t.Context(), look, history.Releases("1", "9")); !strings.Contains(diag.From(err, "")[0].Why, "lost") {
		t.Errorf("a release that lost may have: %v", err)
	}
	docs(&look).FleetFiles, look.Access.Context = nil, here
	look.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, "nobody-in-particular")
	if h, err = r.History(t.Context(), look); !errors.Is(err, fleetplan.ErrPartial) || len(h.Bundles) != 0 || !strings.Contains(h.Unknown[0].Why, "the right to") {
		t.Errorf("%v %+v", err, h)
	}
}

// TestRevisionHistoryLimit: a cluster keeps as many revisions as the bundle says.
func TestRevisionHistoryLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, value := range []string{"one", "two", "three", "four"} {
		r.write("bundle.yaml", r.bundle(r.configMap("app", "key: "+value), "  revisionHistoryLimit: 2\n"))
		r.applied(r.request())
	}
	look := r.request()
	docs(&look).Files, look.Bundle = nil, r.name
	h, err := r.History(t.Context(), look)
	if err != nil || len(h.Bundles) != 1 || len(h.Bundles[0].Releases) != 2 || h.Bundles[0].Releases[1].Release != 3 {
		t.Errorf("%v %+v", err, h)
	}
}

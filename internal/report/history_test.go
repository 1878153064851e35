package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
)

// shopRecord is the record of a release of shop on a cluster, with its version of api.
func shopRecord(revision, number int, phase release.Phase, version string) release.Record {
	r := release.Record{Bundle: "shop", Owner: "40e3", Fleet: "shop", Revision: revision, Release: number, Rollout: fmt.Sprintf("7K2M3XY%d", number),
		Phase: phase, Started: noon.Add(time.Duration(number-42) * time.Hour), Author: "ada@laptop", SourceDigest: "sha256:77ab03d1c2", Commit: "0123456789abcdef0123456789abcdef01234567",
		Source: lineage.Source{Repository: "github.com/acme/shop", Path: "deploy"}, Plan: "sha256:4be1c0ffee", Version: "1.0.0",
		Sources: map[string]string{"api": "helm api " + version}, Digests: map[string]string{"api": "sha256:c81d00aa42"},
		Images: map[string][]string{"api": {"registry.example.com/api:" + version}}, Origins: map[string]string{"REGION": "eu (env)"},
		Done: plan.Counts{Create: 1, Update: 2, Unchanged: 31}}
	if !phase.Open() {
		r.Finished = r.Started.Add(time.Minute)
	}
	return r
}

// shopKept is what the clusters keep: release 42 went well in staging, failed on one cluster of production, and never came to
// another; one did not answer.
func shopKept() []history.Cluster {
	first := shopRecord(1, 41, release.Succeeded, "2.3.0")
	first.Message, first.SourceDigest = "more replicas", "sha256:0000"
	second, bad, open := shopRecord(2, 42, release.Succeeded, "2.4.1"), shopRecord(2, 42, release.Failed, "2.4.1"), shopRecord(3, 43, release.Applying, "2.4.2")
	open.Done, open.SourceDigest = plan.Counts{}, "sha256:9d11c0ffee"
	kept := func(records ...release.Record) []history.Kept {
		return []history.Kept{{InProgress: "bob@ci since 2026-09-01T13:00:00Z", Records: records}}
	}
	return []history.Cluster{
		{Name: "staging-eu", Group: "staging", Bundles: kept(open, second, first)},
		{Name: "production-eu", Group: "production", Bundles: kept(second, first)},
		{Name: "production-us", Group: "production", Bundles: kept(bad, first)},
		{Name: "production-ap", Group: "production", Bundles: kept(first)},
		{Name: "edge-17", Group: "edge", Unreachable: "dial tcp 10.9.0.17:6443: i/o timeout"},
		{Name: "new"},
	}
}

// shopCompared is what changed from release 41 to 42.
func shopCompared() *history.Comparison {
	c, err := history.Compare(shopKept(), "shop", "41", "42")
	if err != nil {
		panic(err)
	}
	body := func(kind, name, key, value string) object.Object {
		return object.Object{Instance: "api", Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "shop"},
			"data": map[string]any{key: value}}}
	}
	old := []object.Object{body("ConfigMap", "api", "image", "registry.example.com/api:2.3.0"), body("Secret", "token", "token", "YQ=="), body("ConfigMap", "gone", "a", "b")}
	now := []object.Object{body("ConfigMap", "api", "image", "registry.example.com/api:2.4.1"), body("Secret", "token", "token", "Yg=="), body("ConfigMap", "extra", "a", "b")}
	for i := range c.Clusters {
		if row := &c.Clusters[i]; row.Unknown == "" {
			sets := func(r *release.Record) []object.Object {
				switch {
				case r == nil:
					return nil
				case r.Release == 41:
					return old
				}
				return now
			}
			before, after := row.Records()
			row.Change(sets(before), sets(after), true, strings.Clone)
		}
	}
	c.Regroup(redact.New(), nil)
	return c
}

func TestHistory(t *testing.T) {
	full := wideStyle
	full.Full = true
	for name, st := range map[string]Style{"wide": wideStyle, "narrow": narrowStyle} {
		golden(t, "history/history."+name+".txt", text(t, func(b *bytes.Buffer) error { return History(b, history.Of(shopKept()), st) }))
		h := history.Of(shopKept())
		if err := h.Only("", "42", nil); err != nil {
			t.Fatal(err)
		}
		golden(t, "history/shown."+name+".txt", text(t, func(b *bytes.Buffer) error { return Shown(b, h, st) }))
		golden(t, "history/compared."+name+".txt", text(t, func(b *bytes.Buffer) error { return Compared(b, shopCompared(), st) }))
	}
	golden(t, "history/compared.full.txt", text(t, func(b *bytes.Buffer) error { return Compared(b, shopCompared(), full) }))
	if got := text(t, func(b *bytes.Buffer) error { return History(b, history.Of(nil), wideStyle) }); !strings.Contains(got, "no release is kept") {
		t.Errorf("nothing: %q", got)
	}
	if got := text(t, func(b *bytes.Buffer) error {
		return History(b, history.Of([]history.Cluster{{Name: "a", Unreachable: "x"}}), wideStyle)
	}); strings.Contains(got, "no release") || !strings.Contains(got, "Nobody knows") {
		t.Errorf("nobody answered: %q", got)
	}
}

// TestHistoryOrders: clusters with one reason stand together, and what stands in a record gives no orders.
func TestHistoryOrders(t *testing.T) {
	const order = "x\x1b[2Jy\n::error::boom\u202e"
	clusters := shopKept()
	clusters[5].Unreachable = clusters[4].Unreachable
	for i := range clusters {
		for k := range clusters[i].Bundles {
			for j := range clusters[i].Bundles[k].Records {
				r := &clusters[i].Bundles[k].Records[j]
				r.Author, r.Message, r.Images, r.Digests = order, order, map[string][]string{"api": {order}}, map[string]string{"api": "sha256:\n::error::boom"}
			}
		}
	}
	for _, st := range []Style{wideStyle, narrowStyle} {
		h := history.Of(clusters)
		got := text(t, func(b *bytes.Buffer) error { return History(b, h, st) })
		if strings.Count(got, "Nobody knows") != 1 || !strings.Contains(got, "2 clusters") {
			t.Errorf("%s", got)
		}
		if err := h.Only("", "42", nil); err != nil {
			t.Fatal(err)
		}
		got += text(t, func(b *bytes.Buffer) error { return Shown(b, h, st) })
		got += text(t, func(b *bytes.Buffer) error { return YAML(b, h) })
		if strings.ContainsAny(got, "\u202e\u009b") || strings.Contains(got, "\x1b[2J") || slices.ContainsFunc(strings.Split(got, "\n"), func(l string) bool { return strings.HasPrefix(l, "::") }) {
			t.Errorf("%q", got)
		}
	}
}

// TestHistoryTellsCorrections: what was put right of a release is told with it, and a message keeps its colons.
func TestHistoryTellsCorrections(t *testing.T) {
	clusters := shopKept()
	at := time.Date(2026, 9, 2, 8, 0, 0, 0, time.UTC)
	r := &clusters[1].Bundles[0].Records[0]
	r.Message = ":tada: done:"
	r.Corrections = []release.Correction{{Rollout: "FIX1", Phase: release.Succeeded, Started: at, Finished: at, Author: "ada", Message: "incident-731", Done: plan.Counts{Update: 2},
		Objects: []release.CorrectedObject{{Action: plan.Update, Object: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "api"}}, {Action: plan.Delete, Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "b"}}}},
		{Rollout: "FIX2", Phase: release.Failed, Started: at.Add(time.Hour), Author: "bob"}}
	clusters = clusters[1:2]
	h := history.Of(clusters)
	got := text(t, func(b *bytes.Buffer) error { return History(b, h, wideStyle) })
	if !strings.Contains(got, ":tada: done:") {
		t.Errorf("the message has lost its colons:\n%s", got)
	}
	if err := h.Only("", "42", nil); err != nil {
		t.Fatal(err)
	}
	got = text(t, func(b *bytes.Buffer) error { return Shown(b, h, wideStyle) })
	for _, want := range []string{"drift put right 2026-09-02T08:00:00Z by ada, succeeded ~2: incident-731", "drift put right 2026-09-02T09:00:00Z by bob, failed without a change\n",
		"   ~ Deployment shop/api\n", "   - ConfigMap shop/b\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := text(t, func(b *bytes.Buffer) error { return YAML(b, h) }); !strings.Contains(got, "corrections:") || !strings.Contains(got, "message: incident-731") {
		t.Errorf("%s", got)
	}
}

// TestHistoryTellsADirtyCommit: what was applied with changes that are in no commit says so, in history and in status.
func TestHistoryTellsADirtyCommit(t *testing.T) {
	for tree, want := range map[string][2]string{
		release.Dirty: {"0123456789abcdef0123456789abcdef01234567, dirty: what was read had changes that are not in it\n", "01234567+"},
		release.Clean: {"commit: 0123456789abcdef0123456789abcdef01234567\n", "01234567 "},
		"":            {"commit: 0123456789abcdef0123456789abcdef01234567\n", "01234567 "},
	} {
		clusters := shopKept()[1:2]
		clusters[0].Bundles[0].Records[0].Tree = tree
		h := history.Of(clusters)
		if got := text(t, func(b *bytes.Buffer) error { return History(b, h, wideStyle) }); !strings.Contains(got, want[1]) {
			t.Errorf("%s: %s", tree, got)
		}
		if err := h.Only("", "42", nil); err != nil {
			t.Fatal(err)
		}
		if got := text(t, func(b *bytes.Buffer) error { return Shown(b, h, Style{Width: 200}) }); !strings.Contains(got, want[0]) {
			t.Errorf("%s: %s", tree, got)
		}
		rec := clusters[0].Bundles[0].Records[0]
		s := &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: "shop", Clusters: []fleetplan.ClusterStatus{fleetplan.ClusterStatus{Cluster: "a"}.With(rec, "").Holding([]fleetplan.InstanceStatus{{Instance: "api", State: "ready"}})}}
		for _, st := range []Style{wideStyle, {Width: 80}, {Width: 80, Verbose: 1}} {
			got := text(t, func(b *bytes.Buffer) error { return Status(b, s, st) })
			if strings.Contains(got, "applied with changes that are not in commit 01234567\n") != (tree == release.Dirty) || strings.Contains(got, "from commit 01234567") != (st.Verbose > 0) {
				t.Errorf("%s: %s", tree, got)
			}
		}
	}
}

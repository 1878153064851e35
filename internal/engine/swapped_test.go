package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/recordkeeping"
)

// Swapped contexts are noticed where a bundle is new, and no hawser.lock is beside it: other bundles' records say which cluster of
// the fleet it is that answers.
func TestSwappedContextsOfANewBundle(t *testing.T) {
	t.Parallel()
	const clusters = "    eu: {kubeContext: eu}\n    us: {kubeContext: us}\n"
	const swapped = "    eu: {kubeContext: us}\n    us: {kubeContext: eu}\n"
	for name, c := range map[string]struct {
		first, then, fleet string
		accept             []string
		keepsLock          bool
		refused            string
	}{
		"swapped":                   {first: clusters, then: swapped, refused: "look swapped"},
		"as before":                 {first: clusters, then: clusters},
		"another fleet's":           {first: clusters, then: swapped, fleet: "g"},
		"accepted":                  {first: clusters, then: swapped, accept: []string{"eu", "us"}},
		"renamed":                   {first: clusters, then: "    europe: {kubeContext: eu}\n    america: {kubeContext: us}\n"},
		"known by hawser.lock":      {first: clusters, then: swapped, keepsLock: true, refused: "look swapped"},
		"declared with another uid": {first: clusters, then: "    eu: {kubeContext: us, uid: other}\n", refused: "the fleet declares"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServed(t, c.first, nil, "eu", "us")
			s.applied(s.request())
			if !c.keepsLock {
				if err := os.Remove(filepath.Join(s.dir, "hawser.lock")); err != nil {
					t.Fatal(err)
				}
			}
			s.write("fleet.yaml", strings.Replace("fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n"+c.then, "name: f", "name: "+max(c.fleet, "f"), 1))
			s.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: other\n  instances:\n    other:\n      namespace: default\n      manifests: {paths: [other.yaml]}\n")
			s.write("other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
			req := s.request()
			req.AcceptClusters = c.accept
			fp, err := s.another().Plan(t.Context(), req)
			got := ""
			if err != nil {
				got = err.Error()
			} else if err := fp.Findings.Err(); err != nil {
				got = err.Error()
			}
			if c.refused == "" && got != "" || !strings.Contains(got, c.refused) {
				t.Errorf("want %q: %s", c.refused, got)
			}
		})
	}
}

// Who holds a lock is not asked of a cluster that is another one than hawser.lock knows: its answer would be of another's lock.
func TestRecordsOnAnotherCluster(t *testing.T) {
	t.Parallel()
	s := newServed(t, "    eu: {kubeContext: eu}\n    us: {kubeContext: us}\n", nil, "eu", "us")
	s.applied(s.request())
	s.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    eu: {kubeContext: us}\n    us: {kubeContext: eu}\n")
	for _, verb := range []string{recordkeeping.Unlock, recordkeeping.Moving} {
		for _, accept := range [][]string{nil, {"eu", "us"}} {
			req, asked := s.request(), false
			req.Bundle, req.AcceptClusters = "shop", accept
			about := &recordkeeping.Report{Verb: verb, Bundle: "shop"}
			err := s.another().TendRecords(t.Context(), req, about, nil, func() error { asked = true; return nil })
			if accept != nil {
				if !asked {
					t.Errorf("%s, accepted: %v", verb, err)
				}
				continue
			}
			if err == nil || exitcode.Of(err) != exitcode.Refused || !strings.Contains(err.Error(), "look swapped") || asked || len(about.Clusters) > 0 {
				t.Errorf("%s: %v, %+v", verb, err, about)
			}
		}
	}
}

// A record that came from another cluster, as with a backup of its Secrets, is told by no verb that looks at all bundles: it is refused
// with the bundle's name, and those of the cluster itself are shown.
func TestListedRecordsOfAnotherCluster(t *testing.T) {
	t.Parallel()
	s := newServed(t, "    eu: {kubeContext: eu}\n    us: {kubeContext: us}\n", nil, "eu", "us")
	req := s.request()
	s.applied(req)
	s.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: copied\n  instances:\n    app:\n      namespace: default\n      manifests: {paths: [other.yaml]}\n")
	s.write("other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
	req.Clusters = fleet.Selection{Clusters: []string{"us"}}
	s.applied(req)
	for _, request := range s.wrote("us") { // the records that a backup of us has
		_, path, _ := strings.Cut(request, " ")
		path, _, _ = strings.Cut(path, "?")
		if secret := s.servers["us"].Object(path); strings.Contains(path, "/secrets/") && secret != nil && strings.Contains(path, object.OwnerID("", "", "copied")) {
			s.servers["eu"].Put(path, secret)
		}
	}
	req = s.request()
	docs(&req).Files, req.Clusters = nil, fleet.Selection{Clusters: []string{"eu"}}
	const want = "what is recorded here of copied is of another cluster"
	list, err := s.another().List(t.Context(), req)
	if c := list.Clusters[0]; err == nil || !strings.Contains(err.Error(), want) || len(c.Bundles) != 1 || c.Bundles[0].Bundle != "shop" || !strings.Contains(c.Unknown, want) {
		t.Errorf("%v %+v", err, list)
	}
	status, err := s.another().Status(t.Context(), req)
	if c := status.Clusters; err == nil || !strings.Contains(err.Error(), want) || len(c) != 2 || c[1].Bundle != "shop" || c[0].Bundle != "" || !strings.Contains(c[0].Unknown, want) {
		t.Errorf("%v %+v", err, status)
	}
	kept, err := s.another().History(t.Context(), req)
	if err == nil || len(kept.Bundles) != 1 || len(kept.Unknown) != 1 || !strings.Contains(kept.Unknown[0].Why, want) {
		t.Errorf("%v %+v", err, kept)
	}
	req.Bundle = "copied" // by its name it is refused in the same words, and there is no row that tells of it
	list, err = s.another().List(t.Context(), req)
	if c := list.Clusters[0]; err == nil || !strings.Contains(err.Error(), want) || len(c.Bundles) > 0 || !strings.Contains(c.Unknown, want) {
		t.Errorf("%v %+v", err, list)
	}
	status, err = s.another().Status(t.Context(), req)
	if c := status.Clusters; err == nil || !strings.Contains(err.Error(), want) || len(c) != 1 || c[0].Revision != 0 || len(c[0].Instances) > 0 || !strings.Contains(c[0].Unknown, want) {
		t.Errorf("%v %+v", err, status)
	}
	if fs := status.Findings.Errors(); len(fs) != 1 || !strings.Contains(fs[0].Fix, "first apply with --accept-cluster") {
		t.Errorf("%+v", fs)
	}
	kept, err = s.another().History(t.Context(), req)
	if err == nil || len(kept.Unknown) != 1 || !strings.Contains(kept.Unknown[0].Why, want) {
		t.Errorf("%v %+v", err, kept)
	}
}

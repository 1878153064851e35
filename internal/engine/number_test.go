package engine

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/release"
)

// A record says the number of its release over the fleet, the plan, what was done, and what was delivered: sources by their
// content, and images. A cluster that is as declared keeps the release it has.
func TestRecordedRelease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.deployment("web")+r.configMap("app", "key: one")))
	req := r.request()
	req.Wait, req.Message = false, "the first"
	r.applied(req)
	first := r.record()
	if first.Release != 1 || !strings.HasPrefix(first.Plan, "sha256:") || first.Done.Create == 0 || !strings.HasPrefix(first.Digests["app"], "sha256:") ||
		len(first.Images["app"]) != 1 || first.Images["app"][0] != "example.com/web:1" {
		t.Errorf("%+v", first)
	}
	r.stored(func(s release.Store) error { // a release that another cluster had, and this one did not
		rec, h, err := s.Current(t.Context(), first.Owner)
		if err == nil {
			rec.Release = 6
			_, err = s.Put(t.Context(), *rec, nil, h)
		}
		return err
	})
	r.applied(req)
	if same := r.record(); same.Release != 6 || same.Revision != 1 || same.Plan != first.Plan {
		t.Errorf("nothing was to be done: %+v", same)
	}
	r.write("app.yaml", r.deployment("web")+r.configMap("app", "key: two"))
	r.applied(req)
	if next := r.record(); next.Release != 7 || next.Revision != 2 || next.Plan == first.Plan || next.Done.Update != 1 || next.Done.Create != 0 ||
		len(next.Images["app"]) != 1 {
		t.Errorf("%+v", next)
	}
}

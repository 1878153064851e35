package recordkeeping

import (
	"context"
	"errors"
	"maps"
	"testing"

	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// revisions are a store that keeps them, the newest first, and whose current record is damaged.
type revisions struct {
	release.Store
	kept []release.Record
}

func (r *revisions) Revisions(_ context.Context, _ string, each func(release.Record) error) error {
	for _, rec := range r.kept {
		if err := each(rec); err != nil {
			return err
		}
	}
	return errors.New("the current one is damaged")
}

// That an object was made here is the word of the revision alone whose record is gone: what an earlier one made and that one let go may be
// somebody else's by now. That it was taken over tells every revision.
func TestTook(t *testing.T) {
	inventory := func(taken ...string) (out []plan.InventoryEntry) {
		for i := 0; i < len(taken); i += 2 {
			out = append(out, plan.InventoryEntry{UID: taken[i], Taken: taken[i+1]})
		}
		return out
	}
	first := release.Record{Revision: 1, Phase: release.Succeeded, Inventory: inventory("own", "", "kept", "", "foreign", "kubectl")}
	for name, c := range map[string]struct {
		kept []release.Record
		now  *release.Record
		want map[string]string
	}{
		"made here":                         {[]release.Record{first}, &release.Record{Revision: 1}, map[string]string{"own": "", "kept": "", "foreign": "kubectl"}},
		"made in 1 and let go in 2":         {[]release.Record{{Revision: 2, Inventory: inventory("own", "")}, first}, &release.Record{Revision: 2}, map[string]string{"own": "", "foreign": "kubectl"}},
		"made in 1 and taken in 2":          {[]release.Record{{Revision: 2, Inventory: inventory("own", "", "kept", plan.Earlier)}, first}, &release.Record{Revision: 2}, map[string]string{"own": "", "kept": plan.Earlier, "foreign": "kubectl"}},
		"the run of 2 died, and is damaged": {[]release.Record{first}, &release.Record{Revision: 2, Phase: release.Failed}, map[string]string{"foreign": "kubectl"}},
		"nobody knows which is damaged":     {[]release.Record{first}, &release.Record{}, map[string]string{"foreign": "kubectl"}},
		"no record":                         {[]release.Record{first}, nil, map[string]string{"foreign": "kubectl"}},
		"of before there were uids":         {[]release.Record{{Revision: 1, Inventory: inventory("", "")}}, &release.Record{Revision: 1}, map[string]string{}},
	} {
		if got := Took(t.Context(), &revisions{kept: c.kept}, "o", c.now); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

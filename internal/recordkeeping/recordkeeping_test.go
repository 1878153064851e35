package recordkeeping

import (
	"context"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
)

// placed is a store that says where it is, and whose lock and records nobody may touch.
type placed struct {
	release.Store
	release.Mover
	at    release.Place
	wrote bool
}

func (p *placed) Place(_ context.Context, write bool) (release.Place, error) {
	p.wrote = p.wrote || write
	return p.at, nil
}

func (p *placed) Holder(context.Context, string) (*release.Held, error) { return nil, nil }

// A move from a place to itself is refused before anybody is asked or a lock is taken, with what to name instead.
func TestMoveToTheSamePlace(t *testing.T) {
	directory := release.Place{ID: "x7", Name: "the directory /srv/releases"}
	for name, c := range map[string]struct {
		from, to release.Place
		fix      string // "" where they may move
	}{
		"the cluster":                   {release.Place{}, release.Place{}, "--from FLEETFILE"},
		"a store":                       {directory, directory, "--from cluster"},
		"a store by another name":       {directory, release.Place{ID: "x7", Name: "the directory /mnt/releases"}, "--from cluster"},
		"a store that was never used":   {release.Place{Name: "the directory /a"}, release.Place{Name: "the directory /a"}, "--from"},
		"a store of the same name":      {directory, release.Place{ID: "x8", Name: directory.Name}, ""},
		"to the cluster":                {directory, release.Place{}, ""},
		"to a store":                    {release.Place{}, directory, ""},
		"to one that was not used yet":  {release.Place{}, release.Place{Name: "the directory /a"}, ""},
		"from one to a new one":         {directory, release.Place{Name: "the directory /a"}, ""},
		"from one to a new one, spoilt": {directory, release.Place{Name: directory.Name}, ""},
	} {
		from, to := &placed{at: c.from}, &placed{at: c.to}
		about := &Report{Verb: Moving, Bundle: "shop", Clusters: []Row{Row{Cluster: "eu"}.Look(t.Context(), Moving, "o", to, func() release.Store { return from })}}
		row := &about.Clusters[0]
		if c.fix == "" {
			if row.Problem != "" || about.Idle() {
				t.Errorf("%s: %+v", name, row)
			}
			continue
		}
		row.Do(t.Context(), Moving, "o", "ann", time.Minute) // touches nothing: the stores would panic
		for what, text := range map[string]string{"row": row.Problem, "verdict": about.Verdict().Error(), "lines": about.Lines(true)} {
			if !strings.Contains(text, "to the same place") || !strings.Contains(text, c.fix) || !strings.Contains(text, c.to.String()) {
				t.Errorf("%s: %s: %s", name, what, text)
			}
		}
		if _, err := Move(t.Context(), from, to, "o", "ann", time.Minute); err == nil || !strings.Contains(err.Error(), "to the same place") {
			t.Errorf("%s: %v", name, err)
		}
		if !about.Idle() || row.Done || from.wrote || to.wrote {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

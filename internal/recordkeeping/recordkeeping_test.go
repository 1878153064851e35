package recordkeeping

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
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

func (p *placed) Current(context.Context, string) (*release.Record, release.RecordVersion, error) {
	return nil, "", nil
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
		about := &Report{Verb: Moving, Bundle: "shop", Clusters: []Row{Row{Cluster: "eu"}.Look(t.Context(), Moving, "o", to, func() release.Store { return from }, Target{})}}
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
		if _, err := Move(t.Context(), from, to, "o", "ann", time.Minute, Target{}); err == nil || !strings.Contains(err.Error(), "to the same place") {
			t.Errorf("%s: %v", name, err)
		}
		if !about.Idle() || row.Done || from.wrote || to.wrote {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

// A store that was never written is called by its name, and not as the cluster's Secrets.
func TestElsewhereNamesBothPlaces(t *testing.T) {
	got := release.Elsewhere(release.Pointer{Bundle: "shop"}, release.Place{Name: "the directory /srv/releases"}).Error()
	if !strings.Contains(got, "are kept in the cluster's Secrets in hawser-system, and this run keeps them in the directory /srv/releases") {
		t.Error(got)
	}
}

// kept is a store without locks that has a record, a hold, or neither.
type kept struct {
	placed
	rec  *release.Record
	hold *release.Hold
	err  error
}

func (k *kept) Current(context.Context, string) (*release.Record, release.RecordVersion, error) {
	return k.rec, "", k.err
}

func (k *kept) Held(context.Context, string) (*release.Hold, release.RecordVersion, error) {
	return k.hold, "", nil
}

func (k *kept) PutHold(context.Context, string, release.Hold, release.RecordVersion) (release.RecordVersion, error) {
	panic("nothing is written")
}

// A bundle that no cluster knows has no lock to take away: its name is misspelt. One that does not answer, or cannot be read, may know it.
func TestUnlockOfNothing(t *testing.T) {
	for name, c := range map[string]struct {
		rows []Row
		eu   kept
		want string // "" where nothing is wrong with the name
	}{
		"nowhere":       {want: "bundle shp is not installed on any selected cluster"},
		"a record":      {eu: kept{rec: &release.Record{}}},
		"a hold":        {eu: kept{hold: &release.Hold{}}},
		"unreadable":    {eu: kept{err: release.ErrDamaged}},
		"one is silent": {rows: []Row{{Cluster: "us", Unreachable: "timeout"}}, want: "did not answer"},
	} {
		row := Row{Cluster: "eu"}.Look(t.Context(), Unlock, "o", &c.eu, func() release.Store { return &placed{} }, Target{})
		about := &Report{Verb: Unlock, Bundle: "shp", Clusters: append(c.rows, row)}
		err, lines := about.Verdict(), about.Lines(true)
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) && c.rows == nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(lines, "nobody holds the lock") != (c.want == "") {
			t.Errorf("%s: %s", name, lines)
		}
		if len(c.rows) > 0 && !errors.Is(err, fleetplan.ErrPartial) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What stands against it has the code that it has elsewhere, and with it the exit code, and is told once of several clusters.
func TestProblemsOfSeveralClusters(t *testing.T) {
	missing := diag.Errorf("missing-rights", "you may not get secrets in namespace hawser-system")
	elsewhere := release.Elsewhere(release.Pointer{Bundle: "shop"}, release.Place{ID: "x7", Name: "the directory /srv/releases"})
	for name, c := range map[string]struct {
		err  error
		code string
		want string
	}{
		"a missing right": {diag.Findings{missing}.Err(), "missing-rights", "eu, us: not done: you may not get secrets in namespace hawser-system\n"},
		"elsewhere": {elsewhere, "records-elsewhere",
			"eu, us: not done: the records of bundle shop are kept in the cluster's Secrets in hawser-system, and this run keeps them in the directory /srv/releases"},
		"another": {errors.New("broken"), "record", "eu, us: not done: broken\n"},
	} {
		about := &Report{Verb: Unlock, Bundle: "shop"}
		for _, cluster := range []string{"eu", "us"} {
			fs := diag.From(c.err, "record").OnCluster(cluster)
			store := &kept{err: errors.Join(fs.Err(), c.err)}
			row := Row{Cluster: cluster}.Look(t.Context(), Unlock, "o", store, func() release.Store { return &placed{} }, Target{})
			if name != "elsewhere" {
				row = Row{Cluster: cluster}
				row.fail(fs.Err())
			}
			about.Clusters = append(about.Clusters, row)
		}
		about.Clusters = append(about.Clusters, Row{Cluster: "asia", Nothing: true})
		lines := about.Lines(true)
		if !strings.HasPrefix(lines, c.want) || strings.Count(lines, "not done") != 1 || !strings.HasSuffix(lines, "asia: nobody holds the lock\n") {
			t.Errorf("%s: %s", name, lines)
		}
		if fs := diag.From(about.Verdict(), ""); len(fs) != 2 || fs[0].Code != c.code || fs[1].Cluster != "us" || len(fs.Merge()) != 1 {
			t.Errorf("%s: %+v", name, fs)
		}
	}
}

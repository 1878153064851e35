package operation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/promotion"
	"hawser.dev/hawser/internal/swap"
)

// TestPromotedToItself: a cluster that is promoted from and to is refused, with what to name instead.
func TestPromotedToItself(t *testing.T) {
	a, b := promotion.Side{Fleet: "f", Clusters: []string{"a", "b"}}, promotion.Side{Fleet: "f", Clusters: []string{"b"}}
	if f := diag.From(apart(a, b), "")[0]; !strings.Contains(f.What, "cluster b is promoted from, and to") || f.Why == "" || !strings.Contains(f.Fix, "--from staging --to production") {
		t.Error(f)
	}
	if b.Fleet = "g"; apart(a, b) != nil {
		t.Error("clusters of another fleet are others")
	}
}

// TestDestroys: only what the plan does is said, each with the reason for which it is asked.
func TestDestroys(t *testing.T) {
	for want, c := range map[string]plan.Counts{
		"2 to delete (Timoni keeps what leaves a bundle, Hawser prunes it)":                                                                 {Delete: 2, Update: 1},
		"1 to recreate (--force deletes what cannot be changed in place, with what it holds, and creates it again)":                         {Recreate: 1},
		"1 to delete (Timoni keeps what leaves a bundle, Hawser prunes it); 3 to adopt (--overwrite-ownership takes over what others have)": {Delete: 1, Adopt: 3},
	} {
		if got := Destroys(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestPromotionIsWrittenWhole: bundle and hawser.lock are written together, what others wrote into the lock meanwhile stays, and where
// somebody else has promoted or edited since, nothing of either is.
func TestPromotionIsWrittenWhole(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, dir string)
		want      string
	}{
		"alone": {func(*testing.T, string) {}, ""},
		"an apply learned a lineage": {func(t *testing.T, dir string) {
			if err := lockfile.Update(filepath.Join(dir, lockfile.Name), func(f lockfile.File) bool { f.Lineages["shop"] = "1"; return true }); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"somebody has promoted": {func(t *testing.T, dir string) {
			if err := lockfile.Update(filepath.Join(dir, lockfile.Name), func(f lockfile.File) bool {
				f.Promoted.Set("f", "shop", "group production", "x", lockfile.Pin{Digest: "sha256:9"})
				return true
			}); err != nil {
				t.Fatal(err)
			}
		}, "somebody else has promoted"},
		"somebody has edited": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "b.yaml"), []byte("other"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "somebody else has changed it"},
		"the lock is broken": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, lockfile.Name), []byte("broken"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "not a lock file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, a, b := filepath.Join(dir, lockfile.Name), filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")
			for _, file := range []string{a, b} {
				if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c.meanwhile(t, dir)
			pins := lockfile.Promotions{}
			pins.Set("f", "shop", "group production", "oci://r/web 1.x", lockfile.Pin{Version: "1.5.0", Digest: "sha256:1"})
			p := &Promotion{Promotion: &promotion.Promotion{}, lock: path, was: lockfile.Promotions{}, new: pins,
				changes: []swap.Change{{Name: a, Old: []byte("old"), New: []byte("new")}, {Name: b, Old: []byte("old"), New: []byte("new")}}}
			err := p.Write()
			text, _ := os.ReadFile(a)
			lock, _ := lockfile.Read(path)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || string(text) != "old" || p.Written || len(lock.Promoted["f"]["shop"]["group production"]) > 0 && name != "somebody has promoted" {
					t.Errorf("%v, %s, %v", err, text, lock.Promoted)
				}
				return
			}
			if err != nil || string(text) != "new" || !p.Written || lock.Promoted.At("f", "shop", "production", "eu")["oci://r/web 1.x"].Version != "1.5.0" {
				t.Errorf("%v, %s, %v", err, text, lock.Promoted)
			}
			if name != "alone" && lock.Lineages["shop"] != "1" {
				t.Error("what the apply learned is gone")
			}
		})
	}
}

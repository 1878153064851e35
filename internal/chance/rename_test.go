package chance

import (
	"slices"
	"testing"
)

func TestRenamed(t *testing.T) {
	some := Answers{Calls: []Call{{Func: Generate, Value: "x"}}}
	kept := map[string]Answers{"db": some, "web": some, "none": {}}
	for _, c := range []struct {
		reason          string
		declared, known []string
		want            string
	}{
		{"nothing is gone", []string{"db", "web", "api"}, []string{"db", "web"}, " "},
		{"one for one", []string{"database", "web"}, []string{"db", "web"}, "db database"},
		{"one is gone", []string{"web"}, []string{"db", "web"}, " "},
		{"two came", []string{"web", "a", "b"}, []string{"db", "web"}, " "},
		{"two are gone", []string{"a"}, []string{"db", "web"}, " "},
		{"what came was there before", []string{"web", "api"}, []string{"db", "web", "api"}, " "},
	} {
		from, to := Renamed(kept, c.declared, func(n string) bool { return slices.Contains(c.known, n) })
		if got := from + " " + to; got != c.want {
			t.Errorf("%s: %q", c.reason, got)
		}
	}
}

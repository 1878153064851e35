package latevalues

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What was not begun is told by instance, with what it waited for or what stands before it that failed; what failed while it was carried out is told
// by its problem alone.
func TestNotBegun(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }
	write := func(instance, name string) plan.Change {
		return plan.Change{Ref: ref(name), Instance: instance, Action: plan.Create}
	}
	drop := func(instance, name string) plan.Change {
		return plan.Change{Ref: ref(name), Instance: instance, Action: plan.Delete}
	}
	left := func(names ...string) (out []Left) {
		for _, name := range names {
			of, because, _ := strings.Cut(name, " after ")
			l := Left{Ref: ref(of)}
			if because != "" {
				l.Because = ref(because)
			}
			out = append(out, l)
		}
		return out
	}
	p := &plan.Plan{Changes: []plan.Change{write("db", "db"), write("one", "one"), write("two", "two"), write("two", "two-b"), write("three", "three"),
		write("four", "four"), drop("db", "old")}}
	depends := map[string][]string{"three": {"two", "one"}, "four": {"three"}}
	takes := map[string][]Source{"one": {{Instance: "db"}}, "four": {{Instance: "one"}}}
	waits := map[string]string{"one": "made: one takes its data.uri"}
	for name, c := range map[string]struct {
		end   End
		waits map[string]string
		want  []string
	}{
		"nothing is left": {End{Failed: map[string]string{"db": "db not ready"}}, nil, nil},
		"a value has not come while another instance failed": {End{Left: left("one", "three", "four"), Failed: map[string]string{"two": "two not ready"}, TimedOut: true}, waits, []string{
			"instance four was not begun: it takes a value of one, which was not begun; it depends on three, which was not begun",
			"instance one was not begun: a value that it takes had not come (made: one takes its data.uri)",
			"instance three was not begun: it depends on two: two not ready; it depends on one, which was not begun"}},
		"the value itself was the problem": {End{Left: left("one"), Failed: map[string]string{"one": "made, which one takes a value of, is not there"}}, waits, []string{
			"instance one was not begun: made, which one takes a value of, is not there"}},
		"it failed half-way": {End{Left: left("two-b"), Failed: map[string]string{"two": "two: refused"}}, nil, nil},
		"nothing is deleted": {End{Left: left("old"), Failed: map[string]string{"two": "two: refused", "one": "x"}}, nil, []string{
			"1 object of instance db not begun: nothing is deleted where something failed (one, two)"}},
		"out of time": {End{Left: left("two", "two-b"), Failed: map[string]string{"db": "db not ready"}, TimedOut: true}, nil, []string{
			"instance two was not begun: the time of the run was over"}},
		"interrupted": {End{Left: left("one", "two", "old"), Cancelled: true}, waits, []string{
			"1 object of instance db not begun: the run was interrupted",
			"instance one was not begun: a value that it takes had not come (made: one takes its data.uri)",
			"1 object of instance two not begun: the run was interrupted"}},
		"the run as a whole": {End{Left: left("two", "two-b"), Failed: map[string]string{"": "the record was not kept"}}, nil, []string{
			"instance two was not begun: the run ended before: the record was not kept"}},
		"stopped by an object of another": {End{Left: left("two after db", "two-b after db"), Failed: map[string]string{"db": "ConfigMap shop/db: refused"}}, nil, []string{
			"instance two was not begun: it comes after ConfigMap shop/db: ConfigMap shop/db: refused"}},
		"of nobody known": {End{Left: left("else"), Failed: map[string]string{"db": "x"}}, nil, []string{
			"1 object not begun: the run ended before, when something failed (db)"}},
	} {
		var got []string
		for _, n := range NotBegun(p, c.end, depends, takes, c.waits) {
			got = append(got, n.String())
		}
		slices.Sort(got)
		if slices.Sort(c.want); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

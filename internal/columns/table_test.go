package columns

import (
	"strings"
	"testing"
)

func lines(t *Table, cols int) string {
	var out []string
	for _, l := range t.Lines(cols, "…") {
		out = append(out, l.Text)
	}
	return strings.Join(out, "\n")
}

// A table takes what it takes where nobody says how wide it may be; else what is long is shortened, what is spare is left out,
// and no cell is broken.
func TestTable(t *testing.T) {
	table := NewTable([]string{"CLUSTER", "RELEASE", "SOURCE", "STATE"}, "RELEASE")
	table.Row("production-eu", "7", "oci://registry.example.com/modules/web", "\x1b[32mready\x1b[0m")
	if n := table.Note("a note, however long it is"); n != 2 {
		t.Errorf("note %d", n)
	}
	table.Row("c", "12", "manifests", "in progress by somebody")
	for cols, want := range map[int]string{
		0: `CLUSTER        RELEASE  SOURCE                                  STATE
production-eu  7        oci://registry.example.com/modules/web  ` + "\x1b[32mready\x1b[0m" + `
a note, however long it is
c              12       manifests                               in progress by somebody`,
		80: `CLUSTER        RELEASE  SOURCE                           STATE
production-eu  7        …gistry.example.com/modules/web  ` + "\x1b[32mready\x1b[0m" + `
a note, however long it is
c              12       manifests                        in progress by somebody`,
		70: `CLUSTER        SOURCE                    STATE
production-eu  …example.com/modules/web  ` + "\x1b[32mready\x1b[0m" + `
a note, however long it is
c              manifests                 in progress by somebody`,
		40: `CLUSTER       SOURCE        STATE
production-…  …modules/web  ` + "\x1b[32mready\x1b[0m" + `
a note, however long it is
c             manifests     in progress…`,
	} {
		got := lines(table, cols)
		if got != want {
			t.Errorf("in %d columns:\n%s\nwant:\n%s", cols, got, want)
		}
		for _, l := range strings.Split(got, "\n") {
			if cols > 0 && Width(l) > cols {
				t.Errorf("in %d columns: %d: %s", cols, Width(l), l)
			}
		}
	}
	none := NewTable([]string{"CLUSTER", "STATE"})
	none.Note("nothing")
	if got := lines(none, 80); got != "nothing" {
		t.Errorf("without rows: %q", got)
	}
}

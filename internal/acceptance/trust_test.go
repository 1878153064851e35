package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ourselves is the one line of SECURITY.md's list that keeps nobody from anything.
const ourselves = "you, who run it"

// TestEveryTrustIsHeld: each line of SECURITY.md that says who is trusted with what has a row that names the tests that hold it, and no row is left of a
// line that is gone. That the tests exist is TestNamedTestsExist's.
func TestEveryTrustIsHeld(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "## Who is trusted with what")
	section, _, ends := strings.Cut(section, "\n## ")
	if !found || !ends {
		t.Fatal("SECURITY.md does not say who is trusted with what")
	}
	lines, held := map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(section, "\n") {
		if who, ok := strings.CutPrefix(line, "- "); ok {
			who, _, _ = strings.Cut(who, ":")
			lines[who] = true
		}
	}
	rows, bad := Parse("SECURITY.md", section)
	for _, err := range bad {
		t.Error(err)
	}
	for _, row := range rows {
		who, _, _ := strings.Cut(row.Sentence, ":")
		held[who] = len(row.Tests) > 0
		if !lines[who] {
			t.Errorf("SECURITY.md has a row of %q, and no line that says what they are trusted with", who)
		}
	}
	if len(lines) < 12 {
		t.Errorf("only %d lines say who is trusted", len(lines))
	}
	for who := range lines {
		if !held[who] && who != ourselves {
			t.Errorf("SECURITY.md names no test that holds what %q is not trusted with", who)
		}
	}
}

package fleetplan

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every refusal is the code of a finding that somebody makes: a code that was renamed would end with another exit code.
func TestRefusalsAreMade(t *testing.T) {
	missing := map[string]bool{}
	for code := range refusals {
		missing[code] = true
	}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "refusal.go" {
			return err
		}
		data, err := os.ReadFile(path)
		for code := range missing {
			if strings.Contains(string(data), `"`+code+`"`) {
				delete(missing, code)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for code := range missing {
		t.Errorf("nobody makes the finding %q", code)
	}
	if Refusal("unknown-field") || !Refusal("stale-plan") {
		t.Error("a mistake is no refusal, a stale plan is one")
	}
}

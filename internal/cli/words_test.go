package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
)

// Words of other tools get one line with our way, and no likeness to some other flag.
func TestWordsOfOtherTools(t *testing.T) {
	root := &cobra.Command{Use: "hawser"}
	root.AddCommand(&cobra.Command{Use: "plan", Run: func(*cobra.Command, []string) {}})
	fix := func(err error) string {
		var fe *diag.FindingsError
		if !errors.As(err, &fe) || len(fe.Findings) != 1 {
			t.Fatalf("%v", err)
		}
		return fe.Findings[0].Fix
	}
	for word, want := range map[string]string{"sync": "hawser apply", "template": "hawser build",
		"get": "hawser status"} {
		if got := fix(noSuchCommand(root, []string{word})); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", word, got)
		}
	}
	for flag, want := range map[string]string{"set": "values", "values": "values", "target": "--cluster", "prune": "deletes what left",
		"force": "--adopt", "version": "version", "diff": "hawser diff"} {
		if got := fix(flagError(root, errors.New("unknown flag: --"+flag))); !strings.Contains(got, want) || strings.Contains(got, "did you mean") {
			t.Errorf("--%s: %q", flag, got)
		}
	}
	if got := fix(flagError(root, errors.New(`invalid argument "server" for "--dry-run" flag: strconv.ParseBool: parsing "server": invalid syntax`))); !strings.Contains(got, "--server-check") {
		t.Errorf("--dry-run=server: %q", got)
	}
	if got := fix(noSuchCommand(root, []string{"paln"})); !strings.Contains(got, "did you mean plan") {
		t.Errorf("a mistyped command: %q", got)
	}
}

package reference

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestTimeBehindWait: a time behind --wait is one for --timeout, and no bundle or plan file, whatever the command takes.
func TestTimeBehindWait(t *testing.T) {
	for args, want := range map[string]string{"-f x --wait 5m": "did you mean --timeout 5m?", "--wait 90s": "did you mean --timeout 90s?", "--wait 0": "", "5m": "", "--wait shop": "", "shop --wait 5m": "did you mean --timeout 5m?"} {
		for name, takes := range map[string]cobra.PositionalArgs{"plan file": PlanFile, "at most one": AtMostOne("bundle"), "nothing": Nothing} {
			cmd := command(t, "hawser plan")
			cmd.Flags().StringArrayP("file", "f", nil, "")
			cmd.Flags().String("bundle", "", "")
			cmd.Flags().Bool("wait", true, "")
			cmd.Flags().Duration("timeout", 0, "")
			if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := takes(cmd, cmd.Flags().Args()); err != nil {
				got = err.Error()
			}
			if want != "" && !strings.Contains(got, want) || want == "" && strings.Contains(got, "--timeout") {
				t.Errorf("%s, %s: %q, want %q", name, args, got, want)
			}
		}
	}
}

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/defaults"
	"hawser.dev/hawser/internal/nextstep"
)

// fleetVariable names the fleet files where no flag does.
const fleetVariable = "HAWSER_FLEET"

// isolateVariable is --isolate for every command.
const isolateVariable = "HAWSER_ISOLATE"

// takesFiles are the commands that cannot do without bundle files, and `fleet check`, which tells less; all others mean something else without them.
var takesFiles = []string{"check", "plan", "apply", "diff", "build", "vet", "lock", "outdated", "promote", "retire"}

// withDefaults lets every command that takes a fleet use the directory's defaults where its flags say nothing. Timoni's
// own commands take what they are given and nothing else.
func (s *session) withDefaults(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil && cmd.Flags().Lookup("fleet") != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := s.useDefaults(cmd, args); err != nil {
				return err
			}
			s.access = strings.Join(nextstep.Access(cmd, s.opts.fleetFiles, ""), " ")
			return run(cmd, args)
		}
	}
	for _, c := range cmd.Commands() {
		if c.Name() != "bundle" && c.Name() != "runtime" {
			s.withDefaults(c)
		}
	}
}

// useDefaults takes fleet and files from HAWSER_FLEET and hawser.yaml, and says so. Flags win, each for itself; a saved
// plan has its own, and --kube-context names a cluster without a fleet.
func (s *session) useDefaults(cmd *cobra.Command, args []string) error {
	if cmd.Name() == "apply" && len(args) > 0 {
		return nil
	}
	given := func(flag string) bool {
		f := cmd.Flags().Lookup(flag)
		return f != nil && f.Changed
	}
	found, findings := defaults.Read(".")
	fleet, from := found.Fleet, defaults.File
	if v := s.getenv(fleetVariable); v != "" {
		fleet, from = splitList([]string{v}), fleetVariable
	}
	useFleet := !given("fleet") && !given("kube-context")
	useFiles := !given("file") && slices.Contains(takesFiles, cmd.Name()) && cmd.Flags().Lookup("bundle") != nil && cmd.Flags().Lookup("file") != nil
	if err := findings.Err(); err != nil && (useFleet && from == defaults.File || useFiles) {
		return err
	}
	var used []string
	if useFleet && len(fleet) > 0 {
		s.opts.fleetFiles = fleet
		used = append(used, fmt.Sprintf("fleet %s (%s)", strings.Join(fleet, ", "), from))
	}
	if given("kube-context") && !given("fleet") && len(fleet) > 0 {
		used = append(used, fmt.Sprintf("no fleet: --kube-context is a cluster without one, for one of %s (%s) there is --cluster", strings.Join(fleet, ", "), from))
	}
	if useFiles && len(found.Files) > 0 {
		s.opts.files = found.Files
		used = append(used, fmt.Sprintf("files %s (%s)", strings.Join(found.Files, ", "), defaults.File))
	}
	if len(used) > 0 {
		_, _ = fmt.Fprintln(s.Err, "using "+strings.Join(used, ", "))
	}
	return nil
}

package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// bundleCommand holds the same commands with Timoni's flags and manners.
func (s *session) bundleCommand() *cobra.Command {
	cmd := parent("bundle", "The same commands with Timoni's flags",
		`Bundle holds apply, build, vet, status and delete as Timoni spells them: --runtime, --runtime-cluster,
--runtime-group, --force (recreate), --overwrite-ownership (adopt); --diff alone implies --dry-run. On a terminal
apply asks first. Without -y and without a terminal, a plan that only creates and changes is applied; one that
deletes, adopts or recreates is refused.

Deliberate differences: a plain value of the bundle is a default that runtime values replace, anything else is
unified; a runtime file is checked; a list may be longer than the default's; instances that left the bundle are
pruned; errors in dry runs and unready status exit non-zero; --timeout is per cluster; local modules may carry a
digest; build takes several clusters.`,
		`  hawser bundle apply -f bundle.cue --runtime runtime.cue --runtime-group staging
  hawser bundle build -f bundle.cue -r runtime.cue --runtime-cluster staging-eu
  hawser bundle delete my-app -r runtime.cue`,
		s.applyCommand(), s.buildCommand(), s.vetCommand(), s.statusCommand(), s.deleteCommand())
	for _, c := range cmd.Commands() {
		c.Example = strings.ReplaceAll(c.Example, "hawser "+c.Name(), "hawser bundle "+c.Name())
	}
	s.timoniManners(cmd)
	return cmd
}

// runtimeCommand holds `runtime build`, Timoni's spelling of `fleet values`.
func (s *session) runtimeCommand() *cobra.Command {
	build := s.fleetValuesCommand("build")
	build.Flags().StringArrayVarP(&s.opts.files, "file", "f", nil, "runtime file (the same as --fleet)")
	build.Flags().StringVar(&s.opts.workdir, "workdir", "", "directory of the CUE module that runtime files import from")
	build.Flags().StringVarP(&s.opts.namespace, "namespace", "n", "", "accepted for Timoni's sake: queries name their own")
	_ = build.Flags().MarkHidden("namespace")
	build.Example = "  hawser runtime build -f runtime.cue\n  hawser runtime build -f runtime.cue --cluster staging-eu"
	cmd := parent("runtime", "Timoni's spelling of fleet values", "Runtime holds build, which is the same as: hawser fleet values.",
		"  hawser runtime build -f runtime.cue", build)
	s.timoniManners(cmd)
	return cmd
}

// timoniManners marks a run as one with Timoni's flags.
func (s *session) timoniManners(cmd *cobra.Command) {
	cmd.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		s.compat = true
		return s.isolated(cmd, args)
	}
}

package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/fleetplan"
)

func (s *session) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print a completion script for your shell",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("completion needs the name of one shell\nUse one of: bash, zsh, fish, powershell")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(s.Out, true)
			case "zsh":
				return root.GenZshCompletion(s.Out)
			case "fish":
				return root.GenFishCompletion(s.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(s.Out)
			}
			return usagef("no completion for %s\nUse one of: bash, zsh, fish, powershell", args[0])
		},
	}
}

// completeFleet completes --cluster and --group from the fleet files named so far, and the values of other flags.
func (s *session) completeFleet(cmd *cobra.Command) {
	names := func(of func(name, group string) string) cobra.CompletionFunc {
		return func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if s.FleetClusters == nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			files := splitList(s.opts.fleetFiles)
			clusters, err := s.FleetClusters(cmd.Context(), fleetplan.Paths{FleetFiles: files, Workdir: s.opts.workdir, Package: s.opts.pkg})
			if len(files) == 0 || err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			done := toComplete[:strings.LastIndexByte(toComplete, ',')+1] // of a list being typed
			var out []string
			for _, c := range clusters {
				if n := done + of(c.Name, c.Group); n != done && !slices.Contains(out, n) && strings.HasPrefix(n, toComplete) {
					out = append(out, n)
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
	}
	fixed := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"cluster":  names(func(name, _ string) string { return name }),
		"group":    names(func(_, group string) string { return group }),
		"from":     names(func(name, group string) string { return cmp.Or(group, name) }),
		"to":       names(func(name, group string) string { return cmp.Or(group, name) }),
		"between":  names(func(name, group string) string { return cmp.Or(group, name) }),
		"color":    fixed("auto", "always", "never"),
		"progress": fixed("auto", "live", "plain"),
		"output":   fixed(planForms...),
	} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, complete)
		}
	}
}

package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/interrupt"
	"hawser.dev/hawser/internal/reference"
)

// commands builds the whole tree; nothing is read or contacted before a command runs.
func (s *session) commands() *cobra.Command {
	root := &cobra.Command{
		Use:   "hawser",
		Short: "Deliver software to a fleet of Kubernetes clusters",
		Long: `Hawser ties a fleet of Kubernetes clusters together: you declare the clusters and what runs on them, it shows one
plan for the whole fleet, rolls it out wave by wave, and stops when something fails.`,
		Example: `  hawser plan  -f shop.yaml --fleet fleet.yaml     # what would change, on all clusters at once
  hawser apply -f shop.yaml --fleet fleet.yaml     # do it: wave by wave, after a yes
  hawser status shop --fleet fleet.yaml            # how it is now`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          reference.NoSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Annotations:   reference.OnlySubcommands,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	s.globalFlags(root.PersistentFlags())
	root.PersistentPreRunE = s.isolated
	root.AddGroup(&cobra.Group{ID: "run", Title: "Deliver:"}, &cobra.Group{ID: "look", Title: "Look and check:"},
		&cobra.Group{ID: "make", Title: "Make and publish:"},
		&cobra.Group{ID: "more", Title: "More:"})
	root.AddCommand(
		grouped("run", s.planCommand(), s.applyCommand(), s.promoteCommand(), s.rollbackCommand(), s.driftCommand(), s.deleteCommand(), s.ejectCommand())...)
	root.AddCommand(grouped("run", s.sayingCommands()...)...)
	root.AddCommand(
		grouped("look", s.statusCommand(), s.listCommand(), s.inspectCommand(), s.historyCommand(), s.diffCommand(), s.vetCommand(), s.buildCommand(), s.fleetCommand())...)
	root.AddCommand(
		grouped("make", s.fmtCommand(), s.moduleCommand(), s.artifactCommand(), s.registryCommand())...)
	root.AddCommand(
		grouped("more", s.bundleCommand(), s.runtimeCommand(), s.lockCommand(), s.outdatedCommand(), s.cacheCommand(), s.schemaCommand(), s.sandboxCommand(),
			s.releaseCommand(), s.completionCommand(), s.versionCommand(), s.docgenCommand())...)
	root.SetHelpCommand(helpCommand(root))
	for _, c := range root.Commands() {
		if c.GroupID == "make" && c.HasSubCommands() {
			s.toolFlags(c)
		}
	}
	reference.Describe(root)
	finishTree(root, false)
	s.withDefaults(root)
	s.credsFlags(root)
	hideIdle(root)
	return root
}

// finishTree gives every command its aliases, flag spellings and error texts.
func finishTree(cmd *cobra.Command, compat bool) {
	compat = compat || cmd.Name() == "bundle" || cmd.Name() == "runtime"
	cmd.Aliases = append(cmd.Aliases, reference.CommandAliases[cmd.Name()]...)
	cmd.Flags().SetNormalizeFunc(reference.Normalize(compat))
	cmd.SetFlagErrorFunc(reference.FlagError)
	cmd.Flags().SortFlags = true
	for _, c := range cmd.Commands() {
		finishTree(c, compat)
	}
}

func grouped(id string, cmds ...*cobra.Command) []*cobra.Command {
	for _, c := range cmds {
		c.GroupID = id
	}
	return cmds
}

// parent is a command that only has subcommands.
func parent(use, short, long, example string, cmds ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: reference.NoSuchCommand, Annotations: reference.OnlySubcommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(cmds...)
	return cmd
}

// helpCommand is help, which refuses a command that there is not.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND]", Short: "Help about a command", GroupID: "more",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return reference.NoSuchCommand(cmd, rest)
			}
			return cmd.Help()
		}}
}

// Verbs are the commands that do something, hidden ones included, by their path without the program's name, each with
// its flags.
func (a *App) Verbs() map[string][]string {
	out := map[string][]string{}
	var walk func(cmd *cobra.Command, path string)
	walk = func(cmd *cobra.Command, path string) {
		for _, c := range cmd.Commands() {
			name := strings.TrimSpace(path + " " + c.Name())
			walk(c, name)
			if c.Annotations["subcommands"] != "" {
				continue // it does nothing of its own
			}
			flags := []string{}
			c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
			out[name] = flags
		}
	}
	walk((&session{App: a, Interruption: interrupt.New(func() {})}).commands(), "")
	return out
}

package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/diag"
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
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Annotations:   onlySubcommands,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	s.globalFlags(root.PersistentFlags())
	root.AddGroup(&cobra.Group{ID: "run", Title: "Deliver:"}, &cobra.Group{ID: "look", Title: "Look and check:"},
		&cobra.Group{ID: "make", Title: "Make and publish:"},
		&cobra.Group{ID: "more", Title: "More:"})
	root.AddCommand(
		grouped("run", s.planCommand(), s.applyCommand(), s.rollbackCommand(), s.driftCommand(), s.deleteCommand())...)
	root.AddCommand(
		grouped("look", s.statusCommand(), s.listCommand(), s.inspectCommand(), s.historyCommand(), s.diffCommand(), s.vetCommand(), s.buildCommand(), s.fleetCommand())...)
	root.AddCommand(
		grouped("make", s.fmtCommand(), s.moduleCommand(), s.artifactCommand(), s.registryCommand())...)
	root.AddCommand(
		grouped("more", s.bundleCommand(), s.runtimeCommand(), s.lockCommand(), s.outdatedCommand(), s.cacheCommand(), s.schemaCommand(), s.sandboxCommand(),
			s.completionCommand(), s.versionCommand(), s.docgenCommand())...)
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
	return root
}

// finishTree gives every command its aliases, flag spellings and error texts.
func finishTree(cmd *cobra.Command, compat bool) {
	compat = compat || cmd.Name() == "bundle" || cmd.Name() == "runtime"
	cmd.Aliases = append(cmd.Aliases, commandAliases[cmd.Name()]...)
	cmd.Flags().SetNormalizeFunc(normalize(compat))
	cmd.SetFlagErrorFunc(flagError)
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

// onlySubcommands marks commands that do nothing but hold others.
var onlySubcommands = map[string]string{"subcommands": "only"}

// parent is a command that only has subcommands.
func parent(use, short, long, example string, cmds ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: noSuchCommand, Annotations: onlySubcommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(cmds...)
	return cmd
}

// noSuchCommand refuses arguments of a command that only has subcommands, with a suggestion.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandsOf(cmd)
	fix := "hawser --help lists the commands"
	if cmd.HasParent() {
		fix = cmd.CommandPath() + " has: " + strings.Join(names, ", ")
	}
	if way := reference.Command(cmd.CommandPath(), args[0]); way != "" {
		return usageFinding("unknown command "+args[0]+" for "+cmd.CommandPath(), "", "", way)
	}
	return usageFinding("unknown command "+args[0]+" for "+cmd.CommandPath(), diag.Nearest(args[0], names), "", fix)
}

// unknownCommand refuses a command that there is not, or that is missing, before its flags are looked at: those are unknown
// to a command that only has subcommands.
func unknownCommand(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Annotations["subcommands"] == "" || len(rest) == 0 || rest[0] == "help" || strings.HasPrefix(rest[0], "__") {
		return nil // cobra adds those when it runs
	}
	if !strings.HasPrefix(rest[0], "-") {
		return noSuchCommand(cmd, rest[:1])
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(rest[0], "--"), "=")
	if name == "help" || name == rest[0] || longFlag(cmd, name) != nil || !cmd.HasParent() {
		return nil
	}
	return usageFinding("no command stands before "+rest[0], "", "", cmd.CommandPath()+" has: "+strings.Join(commandsOf(cmd), ", "))
}

// commandsOf are the names of a command's subcommands, with their other spellings.
func commandsOf(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	return names
}

// flagError explains a flag that does not parse, and suggests the nearest known one.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	name, found := strings.CutPrefix(text, "unknown flag: --")
	word := name
	if rest, ok := strings.CutPrefix(text, "unknown shorthand flag: '"); ok {
		word = rest[:1]
	}
	if way := reference.FlagOf(cmd.CommandPath(), word); way != "" {
		return usageFinding(text, "", "", way)
	}
	if !found && strings.Contains(text, `for "--dry-run" flag`) {
		return usageFinding("--dry-run takes no value", "", "", "--dry-run plans and writes nothing; --server-check asks the API servers, admission included")
	}
	if what, fix := reference.WrongValue(text); what != "" {
		return usageFinding(what, "", "", fix)
	}
	if !found {
		return usageFinding(text, "", "", cmd.CommandPath()+" --help lists the flags")
	}
	if way := reference.Flag(name); way != "" {
		return usageFinding(text, "", "", way)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, a := range flagAliases {
		if f := cmd.Flags().Lookup(a.flag); f != nil {
			names = append(names, a.alias)
		}
	}
	return usageFinding(text, diag.Nearest(name, names), "--", cmd.CommandPath()+" --help lists the flags")
}

func usageFinding(what, nearest, prefix, fix string) error {
	if nearest != "" {
		fix = "did you mean " + prefix + nearest + "? " + fix
	}
	return diag.Findings{{Severity: diag.Error, Code: "usage", What: what, Fix: fix}}.Err()
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
				return noSuchCommand(cmd, rest)
			}
			return cmd.Help()
		}}
}

// atMostOne accepts one optional argument.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s takes at most one %s, not %d\n%s --help shows how", cmd.CommandPath(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

// nothing accepts no argument; a file given as one is a common mistake that gets its own words.
func nothing(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if looksLikeBundle(args[0]) && cmd.Flags().Lookup("file") != nil {
		return usagef("%s takes no arguments\nBundle files are named with -f: %s -f %s", cmd.CommandPath(), cmd.CommandPath(), args[0])
	}
	return usagef("%s takes no arguments, but got %s", cmd.CommandPath(), args[0])
}

func looksLikeBundle(name string) bool {
	for _, ext := range []string{".yaml", ".yml", ".cue", ".json"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return name == "." || strings.HasSuffix(name, "/")
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

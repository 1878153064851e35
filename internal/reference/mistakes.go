package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/diag"
)

// OnlySubcommands marks commands that do nothing but hold others.
var OnlySubcommands = map[string]string{"subcommands": "only"}

// Usage is a mistake in a command line; nearest is what was meant, if that is known, written with the prefix.
func Usage(what, nearest, prefix, fix string) error {
	if nearest != "" {
		fix = "did you mean " + prefix + nearest + "? " + fix
	}
	return diag.Findings{{Severity: diag.Error, Code: "usage", What: what, Fix: fix}}.Err()
}

// NoSuchCommand refuses arguments of a command that only has subcommands, with a suggestion.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandsOf(cmd)
	fix := "hawser --help lists the commands"
	if cmd.HasParent() {
		fix = cmd.CommandPath() + " has: " + strings.Join(names, ", ")
	}
	what := "unknown command " + Shown(args[0]) + " for " + cmd.CommandPath()
	if way := Command(cmd.CommandPath(), args...); way != "" {
		return Usage(what, "", "", way)
	}
	return Usage(what, diag.Nearest(args[0], names), "", fix)
}

// UnknownCommand refuses a command that there is not, or that is missing, before its flags are looked at: those are unknown
// to a command that only has subcommands. A word of another tool is one too below commands that take names.
func UnknownCommand(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || !cmd.HasSubCommands() || len(rest) == 0 || rest[0] == "help" || strings.HasPrefix(rest[0], "__") {
		return nil // cobra adds those when it runs
	}
	if only := cmd.Annotations["subcommands"] != ""; !only && Command(cmd.CommandPath(), rest[0]) == "" {
		return nil
	}
	if !strings.HasPrefix(rest[0], "-") {
		words := rest
		for i, word := range rest {
			if strings.HasPrefix(word, "-") {
				words = rest[:i]
				break
			}
		}
		return NoSuchCommand(cmd, words)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(rest[0], "--"), "=")
	if name == "help" || name == rest[0] || longFlag(cmd, name) != nil || !cmd.HasParent() {
		return nil
	}
	return Usage("no command stands before --"+name, "", "", cmd.CommandPath()+" has: "+strings.Join(commandsOf(cmd), ", "))
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

// nearCommand reports whether a word is nearly a subcommand that has the flag.
func nearCommand(cmd *cobra.Command, word, flag string) bool {
	for _, c := range cmd.Commands() {
		if c.Name() == diag.Nearest(word, commandsOf(cmd)) {
			return longFlag(c, flag) != nil
		}
	}
	return false
}

// FlagError explains a flag that does not parse, and suggests the nearest known one. Where a word stands before it that is
// nearly a subcommand with such a flag, that is the mistake.
func FlagError(cmd *cobra.Command, err error) error {
	if flag, why := refusedValue(err); flag != "" {
		return Usage("the value of "+flag+" is refused (it may be a credential, and is not shown): "+why, "", "", cmd.CommandPath()+" --help lists the flags")
	}
	text := err.Error()
	name, found := strings.CutPrefix(text, "unknown flag: --")
	word := name
	rest, short := strings.CutPrefix(text, "unknown shorthand flag: '")
	if short {
		word = rest[:1]
		if _, whole, _ := strings.Cut(rest, " in -"); Flag(whole) != "" { // -destroy
			word = whole
		} else if len(whole) > 1 { // -pPASSWORD
			text = "unknown shorthand flag: -" + word
		}
	}
	if words := cmd.Flags().Args(); found && len(words) > 0 && nearCommand(cmd, words[0], name) {
		return NoSuchCommand(cmd, words)
	}
	if way := FlagOf(cmd.CommandPath(), word); way != "" {
		return Usage(text, "", "", way)
	}
	if !found && strings.Contains(text, `for "--dry-run" flag`) {
		return Usage("--dry-run takes no value", "", "", "--dry-run plans and writes nothing; --server-check asks the API servers, admission included")
	}
	if what, fix := WrongValue(text); what != "" {
		return Usage(what, "", "", fix)
	}
	if (found || short) && slices.Contains([]string{"f", "file", "filename"}, word) && strings.Contains(cmd.Use, "BUNDLE") {
		return Usage(text, "", "", cmd.CommandPath()+" takes no files, it goes by what the clusters keep: name the bundle, "+cmd.CommandPath()+" BUNDLE")
	}
	if way := Flag(word); (found || short) && way != "" {
		return Usage(text, "", "", way)
	}
	if !found {
		return Usage(text, "", "", cmd.CommandPath()+" --help lists the flags")
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, a := range Spellings {
		if f := cmd.Flags().Lookup(a.Flag); f != nil && (a.Everywhere || compatible(cmd)) {
			names = append(names, a.Alias)
		}
	}
	if way := flagWords[diag.Nearest(name, slices.Sorted(maps.Keys(flagWords)))]; diag.Nearest(name, names) == "" && way != "" { // --forse
		return Usage(text, "", "", way)
	}
	return Usage(text, diag.Nearest(name, names), "--", cmd.CommandPath()+" --help lists the flags")
}

// compatible reports that a command stands below one with Timoni's flags.
func compatible(cmd *cobra.Command) bool {
	path := cmd.CommandPath() + " "
	return strings.Contains(path, " bundle ") || strings.Contains(path, " runtime ")
}

// SingleDash refuses a long flag that is written with one dash: -out would be read as -o ut.
func SingleDash(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.DisableFlagParsing || strings.HasPrefix(cmd.Name(), "__") {
		return nil
	}
	for i, arg := range rest {
		name, value, given := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if arg == "--" {
			return nil
		}
		if len(name) < 3 || !strings.HasPrefix(arg, "-") || name[0] == '-' || i > 0 && takesNext(cmd, rest[i-1]) {
			continue
		}
		if longFlag(cmd, name) == nil {
			if way := Flag(name); way != "" { // Terraform's flags have one dash
				return Usage("unknown flag: -"+name, "", "", way)
			}
			continue
		}
		if given && slices.Contains(secretFlags, name) {
			value = notShown
		}
		if given {
			arg = "-" + name + "=" + Shown(value)
			name += "=" + Shown(value)
		}
		return Usage(arg+" has one dash", "", "", "did you mean --"+name+"? One dash stands before flags of one letter: "+arg+" reads as -"+arg[1:2]+" "+arg[2:])
	}
	return nil
}

// takesNext reports whether an argument is a flag whose value is the next one.
func takesNext(cmd *cobra.Command, arg string) bool {
	var f *pflag.Flag
	switch name := strings.TrimLeft(arg, "-"); {
	case name == arg || strings.Contains(arg, "="):
		return false
	case strings.HasPrefix(arg, "--"):
		f = longFlag(cmd, name)
	case len(name) == 1:
		if f = cmd.Flags().ShorthandLookup(name); f == nil {
			f = cmd.InheritedFlags().ShorthandLookup(name)
		}
	}
	return f != nil && f.NoOptDefVal == ""
}

// longFlag is the flag of that name or spelling, nil when there is none.
func longFlag(cmd *cobra.Command, name string) *pflag.Flag {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f
	}
	return cmd.InheritedFlags().Lookup(name)
}

// nameAndSource refuses an instance and its source, which stand in a bundle.
func nameAndSource(cmd *cobra.Command, args []string) error {
	way := NameAndSource(args)
	if way == "" || cmd.Flags().Lookup("file") == nil {
		return nil
	}
	return Usage(cmd.CommandPath()+" takes no instance and its source", "", "", way)
}

// waitsFor answers kubectl's and Helm's `--wait 5m`: the time is an argument there, as --wait is a switch.
func waitsFor(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || !cmd.Flags().Changed("wait") || cmd.Flags().Lookup("timeout") == nil {
		return nil
	}
	long := args[len(args)-1]
	if d, err := time.ParseDuration(long); err != nil || d == 0 {
		return nil
	}
	return Usage("--wait takes no time, but got "+long, "", "", "did you mean --timeout "+long+"? It says how long; --wait is a switch")
}

// AtMostOne accepts one optional argument.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := waitsFor(cmd, args); err != nil {
			return err
		}
		if err := nameAndSource(cmd, args); err != nil {
			return err
		}
		if len(args) > 1 {
			return Usage(fmt.Sprintf("%s takes at most one %s, not %d", cmd.CommandPath(), what, len(args)), diag.Nearest(args[0], commandsOf(cmd)), cmd.CommandPath()+" ", cmd.CommandPath()+" --help shows how")
		}
		return nil
	}
}

// Nothing accepts no argument; a file given as one is a common mistake that gets its own words, and so does a word that is
// nearly a subcommand.
func Nothing(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case isCredential(args[0]), parted(cmd) && isName(args[0]):
		return Usage(cmd.CommandPath()+" takes no arguments; what stands there may be a credential, and is not shown", "", "",
			"the value of a flag is one word: --creds HOST=USER:PASSWORD, with a = and no blank behind the host")
	case LooksLikeBundle(args[0]) && cmd.Flags().Lookup("file") != nil:
		return Usage(cmd.CommandPath()+" takes no arguments", "", "", "Bundle files are named with -f: "+cmd.CommandPath()+" -f "+args[0])
	case waitsFor(cmd, args) != nil:
		return waitsFor(cmd, args)
	case nameAndSource(cmd, args) != nil:
		return nameAndSource(cmd, args)
	case cmd.HasSubCommands() && diag.Nearest(args[0], commandsOf(cmd)) != "" && (cmd.Flags().Lookup("file") == nil || len(args) > 1):
		return NoSuchCommand(cmd, args)
	}
	fix := cmd.CommandPath() + " --help shows how"
	if f := cmd.Flags(); f.Lookup("file") != nil && f.Lookup("bundle") != nil {
		if near := diag.Nearest(args[0], commandsOf(cmd)); near != "" && !f.Changed("file") {
			return Usage(cmd.CommandPath()+" takes no arguments, but got "+args[0], "", "",
				cmd.CommandPath()+" -f FILE --bundle "+args[0]+" is for a bundle of that name; did you mean "+cmd.CommandPath()+" "+near+"?")
		}
		fix = "Bundle files are named with -f; --bundle " + args[0] + " chooses one of several bundles in them"
		if f.Changed("file") && isName(args[0]) {
			fix = "did you mean --bundle " + args[0] + "? It chooses one of several bundles in the files"
		}
	}
	return Usage(cmd.CommandPath()+" takes no arguments, but got "+args[0], "", "", fix)
}

// Exactly is the number of arguments a command takes, each by its name.
func Exactly(names ...string) cobra.PositionalArgs { return Between(len(names), names...) }

// Between takes all the named arguments, of which only the first few must be there.
func Between(least int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > len(names):
			what := fmt.Sprintf("%s takes %d arguments, not %d", cmd.CommandPath(), len(names), len(args))
			return Usage(strings.Replace(what, " 1 arguments", " 1 argument", 1), "", "", Arguments(cmd.CommandPath(), args))
		case len(args) < least:
			return Usage(cmd.CommandPath()+" needs "+strings.Join(names[len(args):least], " and "), "", "", cmd.CommandPath()+" --help shows how")
		}
		return nil
	}
}

// PlanFile accepts the one plan file that a command may take, and no bundle's name beside files.
func PlanFile(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && cmd.Flags().Changed("file") && isName(args[0]) && waitsFor(cmd, args) == nil && nameAndSource(cmd, args) == nil {
		return Usage(cmd.CommandPath()+" takes files (-f) or a saved plan, not both", "", "",
			"did you mean --bundle "+args[0]+"? It chooses one of several bundles in the files")
	}
	return AtMostOne("plan file")(cmd, args)
}

// isName reports whether an argument may be a bundle's name: a file's has a dot or a slash.
func isName(arg string) bool { return !strings.ContainsAny(arg, "./\\") }

// LooksLikeBundle reports whether an argument is a file of a bundle, or a directory of them, that lacks its -f.
func LooksLikeBundle(name string) bool {
	for _, ext := range []string{".yaml", ".yml", ".cue", ".json"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return name == "." || strings.HasSuffix(name, "/")
}

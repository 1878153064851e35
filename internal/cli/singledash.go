package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// singleDash refuses a long flag that is written with one dash: -out would be read as -o ut.
func singleDash(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.DisableFlagParsing || strings.HasPrefix(cmd.Name(), "__") {
		return nil
	}
	for i, arg := range rest {
		name, value, given := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if arg == "--" {
			return nil
		}
		if len(name) < 3 || !strings.HasPrefix(arg, "-") || name[0] == '-' || i > 0 && takesNext(cmd, rest[i-1]) || longFlag(cmd, name) == nil {
			continue
		}
		if given {
			name += "=" + value
		}
		return usageFinding(arg+" has one dash", "", "", "did you mean --"+name+"? One dash stands before flags of one letter: "+arg+" reads as -"+arg[1:2]+" "+arg[2:])
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

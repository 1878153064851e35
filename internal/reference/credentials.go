package reference

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/misplaced"
)

// secretFlags are those whose values are credentials.
var secretFlags = []string{"creds", "kube-token"}

// notShown stands for an argument that may be a credential.
const notShown = "***"

// userPassword is USER:PASSWORD, with a host before it or none; no drive, scheme or port.
var userPassword = lazyregexp.New(`^(?:[^=\s]*=)?[^\s:/\\=]{2,}:(?:[^/\\\s0-9]|[0-9]+[^0-9/\s])\S*$|^[^=\s]*=[^\s:/=]+:\S+$|^[a-z]+://[^\s=]*=`)

// isCredential reports whether an argument may be one: by its form, or as USER:PASSWORD.
func isCredential(arg string) bool {
	return fleet.SecretVar("", arg) || misplaced.Content(arg) || userPassword.MatchString(arg)
}

// Shown is an argument as it may be shown: not where it looks like a credential that something put where none is taken.
func Shown(arg string) string {
	if isCredential(arg) {
		return notShown
	}
	return arg
}

// Credentials are the arguments of a command line that are not to be shown, each with its parts: values of flags that take credentials, and
// what looks like credentials where no flag takes it.
func Credentials(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil {
		cmd, rest = root, args
	}
	var out []string
	add := func(text string) {
		out = append(out, text)
		if quoted := strconv.Quote(text); quoted != `"`+text+`"` {
			out = append(out, quoted[1:len(quoted)-1])
		}
		if _, password, ok := strings.Cut(text, ":"); ok && len(password) >= 8 && strings.ContainsAny(password, "0123456789") {
			out = append(out, password)
		}
	}
	for i, arg := range rest {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		isFlag := strings.HasPrefix(arg, "-")
		taken := !isFlag && i > 0 && takesNext(cmd, rest[i-1])
		if taken {
			name, value = strings.TrimLeft(rest[i-1], "-"), arg
		}
		switch {
		case (taken || isFlag && given) && name == "kube-token" && len(value) >= 4, (taken || isFlag && given) && name == "creds" && isCredential(value):
			add(value)
		case taken, isFlag && given:
			if fleet.SecretVar("", value) {
				add(value)
			}
		case !isFlag && isCredential(arg):
			add(arg)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longer one first
	return slices.Compact(out)
}

// parted reports whether --creds was given something that is for no host, which may be a host alone with a blank behind it.
func parted(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("creds")
	if f == nil || !f.Changed {
		return false
	}
	many, ok := f.Value.(pflag.SliceValue)
	return ok && slices.ContainsFunc(many.GetSlice(), func(shown string) bool { return !strings.Contains(shown, "=") })
}

// Hiding hides such arguments in a text; nil where there are none.
func Hiding(credentials []string) func(text string) string {
	if len(credentials) == 0 {
		return nil
	}
	return func(text string) string {
		for _, c := range credentials {
			text = strings.ReplaceAll(text, c, notShown)
		}
		return text
	}
}

// refusedValue is a flag whose value was refused and is not to be shown, and why it was, "" for any other mistake.
func refusedValue(err error) (flag, why string) {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return "", ""
	}
	if name := e.GetFlag().Name; slices.Contains(secretFlags, name) || isCredential(e.GetValue()) {
		why := "it is not of the kind that it takes"
		if cause := errors.Unwrap(e); cause != nil && !strings.Contains(cause.Error(), e.GetValue()) {
			why = cause.Error()
		}
		return "--" + name, why
	}
	return "", ""
}

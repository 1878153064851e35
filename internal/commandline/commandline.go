// Package commandline is the command as it was typed: which of its flags another command has to repeat, and how.
//
// commandline must not know what a command does.
package commandline

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/lazyregexp"
)

// Carrying are the flags of apply that say how a plan is carried out or shown, and how, and as whom, clusters and registries are reached:
// which clusters those are, and what they give, is compared with what the plan knows. All others decide what is planned, and a saved
// plan has its own: one that was heeded by nobody would let a run reach further than it says.
var Carrying = []string{"kubeconfig", "kube-server", "kube-token", "kube-tls-server-name", "kube-certificate-authority", "kube-client-certificate", "kube-client-key",
	"kube-insecure-skip-tls-verify", "kube-as-uid", "as", "as-group", "creds", "registry-insecure", "timeout", "parallel", "yes", "dry-run", "diff", "wait",
	"skip-unreachable", "skip-windows", "skip-approvals", "message", "progress", "output", "full", "stat", "color", "verbose", "cache-dir", "isolate", "log-pretty", "log-color"}

// Decided names the flags that were given and that a saved plan does not let change; again reports whether one may be given as
// it was when the plan was made.
func Decided(flags *pflag.FlagSet, again func(flag string) bool) []string {
	var out []string
	flags.Visit(func(f *pflag.Flag) {
		switch {
		case slices.Contains(Carrying, f.Name), again(f.Name) && f.Value.String() != f.DefValue:
		case f.Name == "file":
			out = append(out, "-f")
		default:
			out = append(out, "--"+f.Name)
		}
	})
	return out
}

// once are flags that are said elsewhere, or meant for one run only: how it is shown, and what was confirmed.
var once = []string{"file", "fleet", "runtime", "kubeconfig", "kube-context", "yes", "dry-run", "diff", "confirm-delete", "output",
	"progress", "color", "verbose", "message", "full", "stat"}

// reach are the flags that say which clusters a run is for, and as whom it goes there.
var reach = []string{"cluster", "group", "labels", "as", "as-group", "kube-as-uid", "kube-server", "kube-token", "kube-tls-server-name", "kube-certificate-authority",
	"kube-client-certificate", "kube-client-key", "kube-insecure-skip-tls-verify", "accept-cluster"}

// Same are the other flags that were given, but for some: a run that goes on must not reach further than the one it goes on from.
func Same(flags *pflag.FlagSet, but ...string) []string {
	return given(flags, func(name string) bool { return !slices.Contains(once, name) && !slices.Contains(but, name) })
}

// Each is a flag with each of the values, quoted.
func Each(flag string, values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, flag, Quoted(v))
	}
	return out
}

// Reach are those of the flags that were given with which another command reaches the same clusters, beside fleet and kubeconfig.
func Reach(flags *pflag.FlagSet) []string {
	return given(flags, func(name string) bool { return slices.Contains(reach, name) })
}

// Switch reads a variable that is on or off; known is false for what says neither. Empty is off.
func Switch(text string) (on, known bool) {
	switch on, err := strconv.ParseBool(text); {
	case err == nil:
		return on, true
	case strings.EqualFold(text, "yes"), strings.EqualFold(text, "on"):
		return true, true
	}
	return false, text == "" || strings.EqualFold(text, "no") || strings.EqualFold(text, "off")
}

// With names the flags that were given and do something only beside another one: their usage begins "with --NAME:".
func With(flags *pflag.FlagSet, name string) []string {
	var out []string
	flags.Visit(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Usage, "with --"+name+":") {
			out = append(out, "--"+f.Name)
		}
	})
	return out
}

// Wave is a flag's value: the number of a wave, 1 or more. At is 0 where it was not given.
type Wave struct{ At *int }

// Set takes a number; an error for any other text, and for numbers of no wave.
func (w Wave) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("a wave is named by its number; waves count from 1, in the order of the fleet's rollout")
	}
	*w.At = n
	return nil
}

// String is the number, "0" for none.
func (w Wave) String() string {
	if w.At == nil {
		return "0"
	}
	return strconv.Itoa(*w.At)
}

// Type is what help calls the value.
func (w Wave) Type() string { return "int" }

// Credentials is the value of a flag that is given USER:PASSWORD, or HOST=USER:PASSWORD, again and again. Take is told of each; of what it
// takes nothing is kept but what stands for it where the flag is repeated: which host it was for, if any.
type Credentials struct {
	Take  func(text string) error
	shown []string
}

// host is one that credentials are for as far as it can be told from a password that has a "=": ofHost, that they are for one.
var (
	host   = lazyregexp.New(`^((?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+|localhost)(?::[0-9]+)?)=[^=]`)
	ofHost = lazyregexp.New(`^(?:\[[^=]*\]|[^:=]+)(?::[0-9]+)?=[^=]`)
)

// Set takes credentials; an error is Take's.
func (c *Credentials) Set(text string) error {
	if err := c.Take(text); err != nil {
		return err
	}
	switch m := host.FindStringSubmatch(text); {
	case m != nil:
		c.shown = append(c.shown, m[1]+"=USER:PASSWORD")
	case ofHost.MatchString(text):
		c.shown = append(c.shown, "HOST=USER:PASSWORD")
	default:
		c.shown = append(c.shown, "USER:PASSWORD")
	}
	return nil
}

// GetSlice is what stands for the credentials that were given: "HOST=USER:PASSWORD", with the host.
func (c *Credentials) GetSlice() []string { return c.shown }

// Append is Set.
func (c *Credentials) Append(text string) error { return c.Set(text) }

// Replace is Set for each of the texts.
func (c *Credentials) Replace(texts []string) error {
	for _, text := range texts {
		if err := c.Set(text); err != nil {
			return err
		}
	}
	return nil
}

// String is "": nobody is shown credentials.
func (c *Credentials) String() string { return "" }

// Type is what help calls the value.
func (c *Credentials) Type() string { return "credentials" }

func given(flags *pflag.FlagSet, wanted func(name string) bool) []string {
	var out []string
	flags.Visit(func(f *pflag.Flag) {
		if !wanted(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			values = many.GetSlice()
		}
		if f.Name == "kube-token" { // nobody is to be shown it
			values = []string{"TOKEN"}
		}
		for _, v := range values {
			if f.NoOptDefVal == v && f.Value.Type() == "bool" {
				out = append(out, "--"+f.Name)
			} else {
				out = append(out, "--"+f.Name+"="+Quoted(v))
			}
		}
	})
	return out
}

// Quoted is a word as a shell takes it.
func Quoted(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+~", r))
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

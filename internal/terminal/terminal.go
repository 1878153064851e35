// Package terminal says how a stream is written to: whether it is a terminal, how wide it is, with which colours and characters.
//
// terminal must not know what is written.
package terminal

import (
	"os"
	"strings"

	"golang.org/x/term"
)

// Stderr is the process's standard error, for all of ours.
var Stderr = os.Stderr

// Apart keeps libraries from standard error: what they print there, unasked, goes nowhere. What somebody shall know of it is a finding.
func Apart() {
	if none, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = none
	}
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Size is the terminal's columns and rows, 0 when there is none.
func Size() (cols, rows int) {
	for _, f := range []*os.File{Stderr, os.Stdout} {
		if c, r, err := term.GetSize(int(f.Fd())); err == nil {
			return c, r
		}
	}
	return 0, 0
}

// Colored decides whether a stream has colours by what was chosen (auto, always or never), then NO_COLOR, CLICOLOR_FORCE and TERM of
// the environment, then whether it is a terminal.
func Colored(chosen string, getenv func(string) string, is func() bool) bool {
	switch chosen {
	case "always":
		return true
	case "never":
		return false
	}
	force := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("TERM") == "dumb":
		return false
	}
	return is()
}

// Unicode is false only where the locale says that there is none.
func Unicode(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

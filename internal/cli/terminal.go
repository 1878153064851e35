package cli

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
)

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func terminalSize() (cols, rows int) {
	for _, f := range []*os.File{os.Stderr, os.Stdout} {
		if c, r, err := term.GetSize(int(f.Fd())); err == nil {
			return c, r
		}
	}
	return 0, 0
}

// style is how a stream is written to: its width, colour and characters.
func (s *session) style(w io.Writer) report.Style {
	st := report.Style{Width: s.columns(w), Color: s.colored(w), Unicode: s.unicode(), Full: s.opts.full, Stat: s.opts.stat,
		Verbose: s.opts.verbose, ReadFile: readUserFile}
	return st
}

// readUserFile reads a file a finding points at; what is not a plain file of reasonable size is not quoted.
func readUserFile(name string) ([]byte, error) { return rootfs.ReadFile(name, 4<<20) }

// columns is the terminal's width, COLUMNS where it is set, 0 (a fixed width) elsewhere.
func (s *session) columns(w io.Writer) int {
	if n, err := strconv.Atoi(s.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if !s.IsTerminal(w) {
		return 0
	}
	cols, _ := s.TerminalSize()
	return cols
}

// colored decides by --color, then NO_COLOR, CLICOLOR_FORCE and TERM, then whether the stream is a terminal.
func (s *session) colored(w io.Writer) bool {
	switch s.opts.color {
	case "always":
		return true
	case "never":
		return false
	}
	force := s.getenv("CLICOLOR_FORCE")
	switch {
	case s.getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case s.getenv("TERM") == "dumb":
		return false
	}
	return s.IsTerminal(w)
}

// unicode is off only where the locale says that there is none.
func (s *session) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := s.getenv(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// interactive reports whether somebody can be asked: both what is typed and what is said are at a terminal.
func (s *session) interactive() bool { return s.IsTerminal(s.In) && s.IsTerminal(s.Err) }

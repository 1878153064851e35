package cli

import (
	"io"
	"strconv"

	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/terminal"
)

// style is how a stream is written to: its width, colour and characters.
func (s *session) style(w io.Writer) report.Style {
	st := report.Style{Width: s.columns(w), Color: terminal.Colored(s.opts.color, s.getenv, func() bool { return s.IsTerminal(w) }),
		Unicode: terminal.Unicode(s.getenv), Full: s.opts.full, Stat: s.opts.stat,
		Verbose: s.opts.verbose, Access: s.access, ReadFile: readUserFile}
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

// interactive reports whether somebody can be asked: both what is typed and what is said are at a terminal.
func (s *session) interactive() bool { return s.IsTerminal(s.In) && s.IsTerminal(s.Err) }

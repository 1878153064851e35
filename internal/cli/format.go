package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/format"
)

func (s *session) fmtCommand() *cobra.Command {
	var showDiff bool
	cmd := &cobra.Command{
		Use:   "fmt [-d] [FILE | DIR | DIR/... | -]...",
		Short: "Lay out bundles, fleets and other documents in one way",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return s.formatAll(args, showDiff)
		},
	}
	cmd.Flags().BoolVarP(&showDiff, "diff", "d", false, "print what would change, write nothing, and exit with 1 when anything would")
	return cmd
}

// formatAll formats what it can; what cannot be formatted is told at the end.
func (s *session) formatAll(args []string, showDiff bool) error {
	differs := false
	var found diag.Findings
	for _, arg := range args {
		names := []string{arg}
		if arg != "-" {
			var err error
			if names, err = format.Files([]string{arg}); err != nil {
				found = append(found, diag.From(err, "unreadable")...)
				continue
			}
		}
		for _, name := range names {
			d, err := s.formatOne(name, showDiff)
			if closedPipe(err) {
				return err
			}
			found = append(found, diag.From(err, "format")...)
			differs = differs || d
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	if differs && showDiff {
		return exitcode.Said(exitcode.Error)
	}
	return nil
}

// formatOne formats a file or standard input, and reports whether it was laid out in another way.
func (s *session) formatOne(name string, showDiff bool) (bool, error) {
	src, err := s.document(name)
	if err != nil {
		return false, err
	}
	out, err := format.Source(name, src)
	if err != nil {
		return false, err
	}
	differs := !bytes.Equal(src, out)
	switch {
	case showDiff:
		_, err = s.Out.Write(format.Diff(name, src, out))
	case name == "-":
		_, err = unmasked(s.Out).Write(out) // a document, whatever is in it
	case differs:
		if err = format.Write(name, out); err == nil {
			_, err = fmt.Fprintln(s.Out, name)
		}
	}
	return differs, err
}

// document reads a file, or standard input.
func (s *session) document(name string) ([]byte, error) {
	if name != "-" {
		return format.Read(name)
	}
	if s.In == nil {
		return nil, errors.New("there is no standard input to read")
	}
	return io.ReadAll(io.LimitReader(s.In, 64<<20))
}

package cli

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// eachBundle runs a command once for every bundle of the files, each after those it requires, and stops at the first
// that does not end well (the exit code differs says that there are differences, which is no failure). Files with one bundle, or --bundle, run it once.
func (s *session) eachBundle(cmd *cobra.Command, differs int, run func() error) error {
	stdin, err := s.keepStdin()
	if err != nil {
		return err
	}
	first := run()
	if s.opts.bundle != "" || s.Bundles == nil || !several(first) {
		return first
	}
	req, err := s.bundleRequest(cmd)
	if err != nil {
		return err
	}
	req.Stdin = stdin()
	names, err := s.Bundles(cmd.Context(), req)
	if err != nil || len(names) < 2 {
		return first
	}
	if s.opts.planOut != "" {
		return usagef("--out saves the plan of one bundle\nChoose one with --bundle: %v", names)
	}
	s.opts.among = names
	last := error(nil)
	for _, name := range names {
		s.opts.bundle = name
		s.In = stdin()
		err := run()
		if e, ok := errors.AsType[*exit](err); ok && e.code == differs && e.err == nil {
			last, err = e, nil
		}
		if err != nil {
			return err
		}
	}
	return last
}

// several reports that a command refused to choose among several bundles.
func several(err error) bool {
	return slices.ContainsFunc(diag.From(err, ""), func(f diag.Finding) bool { return f.Code == "which-bundle" })
}

// keepStdin makes standard input readable more than once where a file is "-".
func (s *session) keepStdin() (func() io.Reader, error) {
	if !slices.Contains(s.opts.files, "-") && !slices.Contains(s.opts.fleetFiles, "-") {
		return func() io.Reader { return s.In }, nil
	}
	data, err := rootfs.ReadAll(s.In, "standard input", rootfs.MaxSmall)
	if err != nil {
		return nil, err
	}
	s.In = bytes.NewReader(data)
	return func() io.Reader { return bytes.NewReader(data) }, nil
}

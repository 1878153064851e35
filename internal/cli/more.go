package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

func (s *session) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Version prints the version of Hawser and of the API it reads. No cluster is contacted; fleet check shows theirs.",
		Example: "  hawser version\n  hawser version -o json",
		Args:    reference.Nothing,
		RunE: func(*cobra.Command, []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			doc := struct {
				V       int    `json:"v"`
				Version string `json:"version"`
				API     string `json:"api"`
				Go      string `json:"go"`
				OS      string `json:"platform"`
			}{report.DocumentVersion, s.Version, "v1alpha1", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return s.printData(doc, func(report.Style) error {
				_, err := fmt.Fprintf(s.Out, "hawser %s (API %s, %s, %s)\n", doc.Version, doc.API, doc.Go, doc.OS)
				return err
			})
		},
	}
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	return cmd
}

func (s *session) sandboxCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "sandbox COMMAND [ARGS]",
		Short:              "Run real Kubernetes control planes on this machine, without Docker",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && slices.Contains([]string{"help", "--help", "-h"}, args[0]) {
				return cmd.Help() // nothing is compiled for it
			}
			if s.Sandbox == nil {
				return usagef("this build has no sandbox")
			}
			path, err := s.Sandbox(cmd.Context(), s.Err)
			if err != nil {
				return err
			}
			box := child.New(context.WithoutCancel(cmd.Context()), path, args...) // it gets the terminal's signals itself and ends its own way
			box.Terminal = true
			box.Stdin, box.Stdout, box.Stderr, box.Env = s.In, unmasked(s.Out), unmasked(s.Err), s.Environ()
			end := s.Gently(func() {})
			defer end()
			err = box.Run()
			if e, ok := errors.AsType[*exec.ExitError](err); ok {
				if code := e.ExitCode(); code >= 0 {
					return exitcode.Said(code)
				}
				return exitcode.Said(exitcode.Interrupted)
			}
			return err
		},
	}
}

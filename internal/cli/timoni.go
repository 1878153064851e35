package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/diag"
)

// toolFlags gives the commands about modules, artifacts and registries the flags that all of Timoni's have: --timeout, and
// -v for the version where a command takes one. There --verbose has no short form.
func (s *session) toolFlags(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		s.toolFlags(c)
	}
	run := cmd.RunE
	if run == nil || cmd.HasSubCommands() {
		return
	}
	var timeout time.Duration
	f := cmd.Flags()
	if f.Lookup("timeout") == nil {
		f.DurationVar(&timeout, "timeout", 0, "time the command may take (default: no limit)")
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if timeout > 0 {
				ctx, cancel := context.WithTimeoutCause(cmd.Context(), timeout, diag.Findings{{Severity: diag.Error, Code: "timeout",
					What: "the command took longer than " + timeout.String(), Fix: "give it more with --timeout"}}.Err())
				defer cancel()
				cmd.SetContext(ctx)
				if err := run(cmd, args); err == nil || ctx.Err() == nil || context.Cause(ctx) == context.Canceled {
					return err
				}
				return context.Cause(ctx)
			}
			return run(cmd, args)
		}
	}
	if v := f.Lookup("version"); v != nil && v.Shorthand == "" && f.ShorthandLookup("v") == nil {
		f.CountVar(&s.opts.verbose, "verbose", "say more")
		short := f.VarPF(v.Value, "version-of-module", "v", v.Usage)
		short.Hidden = true
		v.Usage = "(or -v) " + v.Usage
		followVersion(cmd, v)
	}
}

// followVersion lets a command that asks whether --version was given see -v.
func followVersion(cmd *cobra.Command, version *pflag.Flag) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		version.Changed = version.Changed || cmd.Flags().Changed("version-of-module")
		return run(cmd, args)
	}
}

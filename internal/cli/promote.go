package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/prompt"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/workspace"
)

func (s *session) promoteCommand() *cobra.Command {
	what := operation.Promote{Read: readUserFile}
	cmd := &cobra.Command{
		Use:   "promote BUNDLE -f FILE --from PLACE --to PLACE [--fleet FLEET]",
		Short: "Write what runs on some clusters into the files for others",
		Args:  s.oneBundle,
		RunE:  func(cmd *cobra.Command, args []string) error { return s.promote(cmd, args, what) },
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlag(f)
	s.opts.accessFlags(f)
	s.opts.outputFlag(f, dataForms...)
	f.StringSliceVar(&what.From, "from", nil, "groups and clusters whose release is promoted (default: all of the fleet)")
	f.StringSliceVar(&what.To, "to", nil, "groups and clusters that the files are written for (default: all of the fleet)")
	f.StringArrayVar(&what.ToFleet, "to-fleet", nil, "fleet file that --to is in, where it is another one (repeat it)")
	f.StringArrayVar(&what.ToFiles, "to-file", nil, "bundle file that is written, where it is another one (repeat it)")
	f.StringVar(&what.Release, "release", "", "the release to promote: its number or rollout (default: the newest that came to --from)")
	f.BoolVar(&what.SourcesOnly, "sources-only", false, "leave values that name images as they are")
	f.BoolVarP(&s.opts.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&s.opts.dryRun, "dry-run", false, "show what would be written, and stop")
	s.completeFleet(cmd)
	return cmd
}

func (s *session) promote(cmd *cobra.Command, args []string, what operation.Promote) error {
	if err := checkForm(s.opts.output, dataForms...); err != nil {
		return err
	}
	if len(what.From)+len(what.ToFleet)+len(what.ToFiles) == 0 || len(what.To)+len(what.ToFleet)+len(what.ToFiles) == 0 {
		return usagef("promote needs --from and --to\nFor example: hawser promote shop -f shop.yaml --fleet fleet.yaml --from staging --to production")
	}
	req, err := s.bundleRequest(cmd)
	if err == nil {
		err = s.keepStdin()
	}
	if err != nil {
		return err
	}
	workspace.Of(&req.Documents).Stdin, req.Bundle, what.Now, what.ToFleet = s.In, append(args, s.opts.bundle)[0], s.Now(), splitList(what.ToFleet)
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return err
	}
	p, err := what.Decide(cmd.Context(), eng, req)
	if p == nil {
		return s.failed(err)
	}
	if err == nil && len(p.Files) > 0 && !s.opts.dryRun {
		if err := s.writePromotion(cmd, p); err != nil {
			return s.failed(err)
		}
	}
	return s.looked(p.Promotion, err, func(st report.Style) error { return report.Promoted(s.Out, p.Promotion, st) })
}

// writePromotion writes the files, after a yes.
func (s *session) writePromotion(cmd *cobra.Command, p *operation.Promotion) error {
	if !s.opts.yes {
		if !s.interactive() {
			return refused("nobody can be asked here whether to write the files", "stdin or stderr is not a terminal", "look at it with --dry-run, then say it with -y")
		}
		if err := report.Promoted(s.Err, p.Promotion, s.style(s.Err)); err != nil {
			return err
		}
		yes, err := prompt.Prompter{In: s.In, Out: s.Err}.Yes(cmd.Context(), fmt.Sprintf("Write %d files?", len(p.Files)))
		if err == nil && !yes {
			err = refused("not confirmed", "nothing was written", "")
		}
		if err != nil {
			return err
		}
	}
	return p.Write()
}

package cli

import (
	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

func (s *session) historyCommand() *cobra.Command {
	cmd := s.fleetCmd("history [BUNDLE]", "Show the releases of a fleet, who made them, and what became of them", "", "",
		func(cmd *cobra.Command, req engine.Request) error {
			if err := s.name(s.args); err != nil {
				return err
			}
			req.Bundle = s.opts.bundle
			h, err := s.releases(cmd, req)
			if h == nil {
				return s.failed(err)
			}
			return s.looked(h, err, func(st report.Style) error { return report.History(s.Out, h, st) })
		})
	cmd.Args = reference.AtMostOne("bundle")
	s.opts.bundleFlag(cmd.Flags())
	cmd.AddCommand(s.historyShowCommand(), s.historyDiffCommand())
	return cmd
}

// releases reads the records of the selected clusters; the history is there also beside ErrPartial.
func (s *session) releases(cmd *cobra.Command, req engine.Request) (*history.History, error) {
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return nil, err
	}
	return eng.History(cmd.Context(), req)
}

func (s *session) historyShowCommand() *cobra.Command {
	cmd := s.fleetCmd("show [BUNDLE] RELEASE", "Show one release: how it came about, where each cluster stands, what was delivered", "", "",
		func(cmd *cobra.Command, req engine.Request) error {
			h, err := s.releases(cmd, req)
			if h == nil {
				return s.failed(err)
			}
			if missing := h.Only(req.Bundle, s.args[len(s.args)-1], err); missing != nil {
				return s.failed(missing)
			}
			return s.looked(h, err, func(st report.Style) error { return report.Shown(s.Out, h, st) })
		})
	cmd.Args = s.named("RELEASE")
	cmd.Flags().StringVar(&s.opts.bundle, "bundle", "", "the bundle, the same as the argument; needed where the clusters have several")
	return cmd
}

func (s *session) historyDiffCommand() *cobra.Command {
	cmd := s.fleetCmd("diff [BUNDLE] FROM TO", "Show what changed between two releases, object by object", "", "",
		func(cmd *cobra.Command, req engine.Request) error {
			req.ShowContent = s.opts.full || s.opts.output != "text"
			eng, err := s.engine(s.newProgress())
			if err != nil {
				return err
			}
			c := history.Releases(s.args[len(s.args)-2], s.args[len(s.args)-1])
			if err = eng.Compare(cmd.Context(), req, c); c.V == 0 {
				return s.failed(err)
			}
			return s.looked(c, err, func(st report.Style) error { return report.Compared(s.Out, c, st) })
		})
	cmd.Args = s.named("FROM", "TO")
	cmd.Flags().StringVar(&s.opts.bundle, "bundle", "", "the bundle, the same as the argument; needed where the clusters have several")
	s.opts.viewFlags(cmd.Flags())
	return cmd
}

// named accepts the arguments, and the bundle's name before them.
func (s *session) named(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names)+1 {
			return s.name(args[:1])
		}
		return reference.Exactly(names...)(cmd, args)
	}
}

package cli

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/built"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/workspace"
)

func (s *session) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan -f BUNDLE [--fleet FLEET]",
		Short: "Show one plan for the whole fleet; write nothing",
		Args:  reference.Nothing,
		RunE:  func(cmd *cobra.Command, _ []string) error { return s.plan(cmd) },
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.decideFlags(f)
	s.opts.lockedFlag(f)
	s.opts.viewFlags(f)
	s.opts.outputFlag(f, planForms...)
	f.StringVar(&s.opts.planOut, "out", "", "save the plan in this file")
	f.BoolVar(&s.opts.detailed, "detailed-exitcode", false, "exit with 2 when an apply has something to do")
	f.StringVar(&s.opts.progress, "progress", "auto", "progress: auto, live or plain")
	s.completeFleet(cmd)
	cmd.AddCommand(s.planShowCommand())
	return cmd
}

var planForms = []string{"text", "json", "yaml", "markdown"}

func (s *session) planShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a saved plan; contact nothing",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("plan show needs the file of one plan\nFor example: hawser plan show shop.plan")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, planForms...); err != nil {
				return err
			}
			if s.ReadPlan == nil {
				return usagef("this build cannot read plan files")
			}
			if err := rootfs.Given(args[0]); err != nil {
				return fmt.Errorf("the saved plan %w: name the file itself", err)
			}
			f, err := rootfs.OpenFile(args[0])
			if err != nil {
				return notThere(err, "there is no saved plan "+args[0], "hawser plan -f BUNDLE --out "+args[0]+" makes one")
			}
			defer f.Close()
			p, err := s.ReadPlan(f)
			if err != nil {
				return err
			}
			return s.printPlan(s.Out, p)
		},
	}
	s.opts.viewFlags(cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), planForms...)
	return cmd
}

// plan is the command `plan`, and `apply --dry-run`.
func (s *session) plan(cmd *cobra.Command) error {
	if err := checkForm(s.opts.output, planForms...); err != nil {
		return err
	}
	req, err := s.bundleRequest(cmd)
	if err != nil {
		return err
	}
	req.ShowDiff, req.Reads = true, true
	req.ShowContent = s.opts.full || s.opts.planOut != "" || s.opts.output == "json" || s.opts.output == "yaml"
	code, err := s.planEach(cmd, req, s.showAndSave)
	if err != nil {
		return err
	}
	if code != exitcode.Done && code != exitcode.Changes {
		s.differ("dry-run", fmt.Sprintf("a dry run with errors exits with %d", code))
	}
	return exitcode.Said(code)
}

// engine makes the engine of one run.
func (s *session) engine(pr *progress) (Engine, error) {
	if s.Engine == nil {
		return nil, usagef("this build has no engine")
	}
	return s.Engine(pr.event)
}

func (s *session) printPlan(w io.Writer, p *fleetplan.FleetPlan) error {
	switch s.opts.output {
	case "json":
		return report.JSON(w, p)
	case "yaml":
		return report.YAML(w, p)
	case "markdown":
		return report.Markdown(w, p, s.opts.full)
	}
	return report.Plan(w, p, s.style(w))
}

// savePlan writes the plan beside its final name first, so that a file is there wholly or not at all.
func (s *session) savePlan(eng Engine, p *engine.Prepared) error {
	var b bytes.Buffer
	digest, warnings, err := eng.SavePlan(p, &b)
	if err != nil {
		return err
	}
	if len(warnings) > 0 {
		if err := report.Findings(s.Err, warnings, s.style(s.Err)); err != nil {
			return err
		}
	}
	if err := built.WriteFile(s.opts.planOut, b.Bytes(), 0o600); err != nil {
		return err
	}
	w := s.Out
	if s.opts.output != "text" {
		w = s.Err
	}
	return report.Saved(w, s.opts.planOut, digest, s.style(w))
}

// failed makes what stopped a command a document on stdout, when documents are asked for; the code stays.
func (s *session) failed(err error) error {
	if s.opts.output != "json" && s.opts.output != "yaml" || closedPipe(err) || s.opts.bundle == "" && operation.Several(err) {
		return err
	}
	doc := findingsOf(err)
	if s.opts.output == "yaml" {
		_ = report.YAML(s.Out, doc)
	} else {
		_ = report.JSON(s.Out, doc)
	}
	return err
}

func (s *session) diffCommand() *cobra.Command {
	between := ""
	cmd := &cobra.Command{
		Use:   "diff -f BUNDLE [--fleet FLEET]",
		Short: "Show changed fields alone, or what two groups or clusters run, compared",
		Args: func(cmd *cobra.Command, args []string) error {
			if between != "" {
				return reference.AtMostOne("bundle")(cmd, args)
			}
			return reference.Nothing(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			diff := s.diff
			if between != "" {
				diff = func(cmd *cobra.Command) (int, bool, error) { return s.between(cmd, args, between) }
			}
			err := checkForm(s.opts.output, dataForms...)
			code, differ := 0, false
			if err == nil {
				code, differ, err = diff(cmd)
			}
			switch {
			case err != nil && exitcode.Of(err) == exitcode.Error:
				return &exitcode.Exit{Code: 2, Err: err}
			case err != nil:
				return err
			}
			return exitcode.Said(exitcode.OfDiff(code, differ))
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	s.opts.decideFlags(f)
	s.opts.lockedFlag(f)
	s.opts.viewFlags(f)
	s.opts.outputFlag(f, dataForms...)
	f.StringVar(&between, "between", "", "compare what two groups or clusters run, `A,B`; -f is not read, and BUNDLE chooses one")
	s.completeFleet(cmd)
	return cmd
}

// between prints what two sides of the fleet run, compared, and returns the exit code, and whether they differ.
func (s *session) between(cmd *cobra.Command, args []string, sides string) (code int, differ bool, err error) {
	if cmd.Flags().Changed("file") || s.FleetClusters == nil || cmd.Flags().Changed("cluster") || cmd.Flags().Changed("group") || cmd.Flags().Changed("labels") {
		return 0, false, usagef("--between compares what runs on the clusters that it names: leave -f, --cluster, --group and -l out")
	}
	s.opts.files = nil
	req, err := s.request(cmd)
	if err != nil {
		return 0, false, err
	}
	clusters, err := s.FleetClusters(cmd.Context(), workspace.Of(&req.Documents).Paths)
	if err != nil {
		return 0, false, err
	}
	b, selected, err := operation.Between(clusters, sides)
	if err != nil {
		return 0, false, err
	}
	req.Clusters, req.Bundle, req.ShowContent = selected, append(args, s.opts.bundle)[0], s.opts.full || s.opts.output != "text"
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return 0, false, err
	}
	if err = eng.Compare(cmd.Context(), req, b); b.V == 0 {
		return 0, false, s.failed(err)
	}
	return exitcode.Of(err), b.Differ(), s.printData(b, func(st report.Style) error { return report.Between(s.Out, b, st) })
}

// diff prints the field diffs, or the plan as a document, and returns the plan's exit code, and whether there are any.
func (s *session) diff(cmd *cobra.Command) (code int, differ bool, err error) {
	req, err := s.bundleRequest(cmd)
	if err != nil {
		return 0, false, err
	}
	req.ShowDiff, req.Reads, req.ShowContent = true, true, s.opts.full || s.opts.output != "text"
	code, err = s.planEach(cmd, req, func(_ Engine, p *engine.Prepared) error {
		if differ = differ || p.Writes(); s.opts.output == "json" || s.opts.output == "yaml" {
			return s.printPlan(s.Out, p.FleetPlan)
		}
		return report.Diff(s.Out, p.FleetPlan, s.style(s.Out))
	})
	return code, differ, err
}

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/operation"
	"hawser.dev/hawser/internal/rbac"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/workspace"
)

func (s *session) fleetCommand() *cobra.Command {
	return parent("fleet", "Look at the clusters of a fleet",
		"Fleet shows the clusters that a fleet file declares, how each is reached, and what is known of it.",
		"  hawser fleet ls -r fleet.yaml\n  hawser fleet check -r fleet.yaml -f shop.yaml\n  hawser fleet import kubeconfig > fleet.yaml",
		s.fleetLsCommand(), s.fleetCheckCommand(), s.fleetValuesCommand("values"), s.fleetSnapshotCommand(), s.fleetRetireCommand(), s.fleetImportCommand())
}

// fleetCmd is a command about clusters with the flags all of them have; its arguments are s.args when it runs.
func (s *session) fleetCmd(use, short, long, example string, run func(cmd *cobra.Command, req engine.Request) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: reference.Nothing,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			req, err := s.request(cmd)
			if err != nil {
				return err
			}
			s.args = args
			return run(cmd, req)
		}}
	s.opts.fleetFlags(cmd.Flags())
	s.opts.accessFlags(cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	s.completeFleet(cmd)
	return cmd
}

// looked prints what reading clusters gave, which may have come beside an error.
func (s *session) looked(doc any, err error, text func(report.Style) error) error {
	if perr := s.printData(doc, text); perr != nil {
		return perr
	}
	return reported(err)
}

// fleetReport prints a report that may come beside an error.
func (s *session) fleetReport(r *fleetplan.FleetReport, err error, text func(report.Style) error) error {
	if r == nil {
		return s.failed(err)
	}
	if perr := s.printData(r, text); perr != nil {
		return perr
	}
	if s.opts.output == "text" { // what is wrong with one cluster stands in its row
		beside := slices.DeleteFunc(slices.Clone(r.Findings), func(f diag.Finding) bool { return f.Cluster != "" && f.Severity == diag.Error })
		_ = report.Findings(s.Err, beside, s.style(s.Err))
	}
	if fe, ok := errors.AsType[*diag.FindingsError](err); ok {
		return exitcode.Said(lookCode(fe.Findings))
	}
	return reported(err)
}

// lookCode is the exit code of findings about clusters that were only looked at: 3 when some did not answer and
// nothing else is wrong, 5 when only rights are missing besides, else 1.
func lookCode(fs diag.Findings) int {
	if !slices.ContainsFunc(fs.Errors(), func(f diag.Finding) bool { return f.Code != "unreachable" }) {
		return exitcode.Partial
	}
	return exitcode.OfFindings(fs)
}

func (s *session) fleetLsCommand() *cobra.Command {
	return s.fleetCmd("ls", "List the clusters and how each is reached", "", "",
		func(cmd *cobra.Command, req engine.Request) error {
			eng, err := s.engine(s.newProgress())
			if err != nil {
				return err
			}
			r, err := eng.Clusters(cmd.Context(), req)
			return s.fleetReport(r, err, func(st report.Style) error { return report.FleetList(s.Out, r, st) })
		})
}

func (s *session) fleetCheckCommand() *cobra.Command {
	cmd := s.fleetCmd("check", "Check that clusters answer, and which rights a bundle needs there",
		"", "",
		func(cmd *cobra.Command, req engine.Request) error {
			eng, err := s.engine(s.newProgress())
			if err != nil {
				return err
			}
			if s.opts.printRBAC {
				return s.printRBACFor(cmd.Context(), eng, req)
			}
			r, err := operation.Check(cmd.Context(), eng, req, s.Bundles)
			return s.fleetReport(r, err, func(st report.Style) error { return report.FleetCheck(s.Out, r, st) })
		})
	s.opts.bundleFlags(cmd.Flags())
	s.opts.acceptFlag(cmd.Flags())
	cmd.Flags().BoolVar(&s.opts.printRBAC, "print-rbac", false, "print roles with the rights the bundle needs, as YAML")
	return cmd
}

// fleetValuesCommand is `fleet values`, and `runtime build`.
func (s *session) fleetValuesCommand(use string) *cobra.Command {
	cmd := s.fleetCmd(use, "Show the runtime values of every cluster and where they come from",
		"Values reads the fleet's value queries on every selected cluster and shows the results with their origins. Secret values are hidden.",
		"  hawser fleet values -r fleet.yaml\n  hawser fleet values -r fleet.yaml --cluster staging-eu -o json",
		func(cmd *cobra.Command, req engine.Request) error {
			if from := workspace.Of(&req.Documents); use != "values" && len(from.FleetFiles) == 0 {
				from.Files, from.FleetFiles = nil, splitList(s.opts.files)
			}
			eng, err := s.engine(s.newProgress())
			if err != nil {
				return err
			}
			r, err := eng.Values(cmd.Context(), req)
			return s.fleetReport(r, err, func(st report.Style) error { return report.FleetValues(s.Out, r, st) })
		})
	return cmd
}

func (s *session) fleetSnapshotCommand() *cobra.Command {
	return s.fleetCmd("snapshot", "Save the facts of the clusters, for vet and build without them", "", "",
		func(cmd *cobra.Command, req engine.Request) error {
			eng, err := s.engine(s.newProgress())
			if err != nil {
				return err
			}
			snap, err := eng.Snapshot(cmd.Context(), req)
			if err != nil {
				return err
			}
			if s.opts.output == "yaml" {
				return report.YAML(s.Out, snap)
			}
			data, err := snap.Marshal()
			if err != nil {
				return err
			}
			_, err = s.Out.Write(data)
			return err
		})
}

func (s *session) fleetImportCommand() *cobra.Command {
	kube := &cobra.Command{
		Use:   "kubeconfig [FILE]",
		Short: "Write a fleet file from kubeconfig contexts",
		Args:  reference.AtMostOne("kubeconfig file"),
		RunE: func(_ *cobra.Command, args []string) error {
			file := s.opts.kubeconfig
			if len(args) == 1 {
				file = args[0]
			}
			return s.importKubeconfig(file)
		},
	}
	kube.Flags().StringVar(&s.opts.kubeconfig, "kubeconfig", "", "kubeconfig file (default: KUBECONFIG, then ~/.kube/config)")
	kube.Flags().StringVar(&s.opts.name, "name", "", "name of the fleet (default: fleet)")
	return parent("import", "Write a fleet file from what you have", "Import makes a fleet file from other descriptions of clusters.",
		"  hawser fleet import kubeconfig > fleet.yaml", kube)
}

// importKubeconfig prints a fleet file of a kubeconfig's contexts. file is "" for the usual places.
func (s *session) importKubeconfig(file string) error {
	if s.ImportKubeconfig == nil {
		return usagef("this build cannot read kubeconfig files")
	}
	if file != "" {
		if _, err := os.Stat(file); err != nil {
			return notThere(err, "no kubeconfig at "+file, "name one: hawser fleet import kubeconfig FILE")
		}
	}
	text, findings := s.ImportKubeconfig(file, s.opts.name)
	if err := findings.Err(); err != nil {
		return err
	}
	if len(findings) > 0 {
		_ = report.Findings(s.Err, findings, s.style(s.Err))
	}
	_, err := io.WriteString(s.Out, text)
	return err
}

// notThere reports a missing file in words.
func notThere(err error, what, fix string) error {
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return diag.Findings{{Severity: diag.Error, Code: "no-file", What: what, Fix: fix}}.Err()
}

// printRBACFor prints the roles that an apply of the bundle needs, made from what it would render.
func (s *session) printRBACFor(ctx context.Context, eng Engine, req engine.Request) error {
	if !req.HasBundles() {
		return usagef("--print-rbac needs the bundle: name its files with -f")
	}
	req.Placeholders, req.Recorded = true, true // who may not read a value yet asks for the roles that let him
	r, err := eng.Build(ctx, req)
	if err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		_ = report.Findings(s.Err, r.Findings, s.style(s.Err))
	}
	return rbac.Write(s.Out, r)
}

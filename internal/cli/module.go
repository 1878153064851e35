package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/toolchain"
)

func (s *session) moduleCommand() *cobra.Command {
	return parent("module COMMAND", "Make, check, publish and look at modules",
		`Module holds what a module's author needs: begin a module from a blueprint, check and render it, vendor the schemas it
imports, and publish it as an OCI artifact that Timoni pulls as well. Modules that Timoni published can be pulled and looked
at here. A module is a directory, or oci://REGISTRY/REPOSITORY.`,
		`  hawser module init web
  hawser module vet web
  hawser module push web oci://registry.example.com/modules/web --version 1.0.0`,
		s.moduleInitCommand(), s.moduleVetCommand(), s.moduleBuildCommand(), s.modulePushCommand(), s.modulePullCommand(),
		s.moduleListCommand(), s.moduleShowCommand(), s.moduleVendorCommand())
}

// tools are the tool chain under the policy of the fleet that was named, or an error that this build has none.
func (s *session) tools(ctx context.Context) (*toolchain.Tools, error) {
	if s.Tools == nil {
		return nil, usagef("this build has no module tool chain")
	}
	t, err := s.Tools()
	if err != nil || len(s.opts.fleetFiles) == 0 {
		return t, err
	}
	program, findings := document.Load(ctx, document.Options{Fleet: s.opts.fleetFiles, Stdin: s.In, Watchdog: t.Watchdog})
	if err := findings.Err(); err != nil {
		return nil, err
	}
	return t, t.Obey(program.Fleet())
}

// policyFlag is for commands that fetch and know no clusters.
func (s *session) policyFlag(f *pflag.FlagSet) {
	f.StringArrayVarP(&s.opts.fleetFiles, "fleet", "r", nil, "fleet file (repeat it) that says what must be signed, and by whom")
}

// moduleAt is a command's optional first argument, a module, with the flags that choose its version.
type moduleAt struct{ version, digest string }

func (p *moduleAt) flags(s *session, f *pflag.FlagSet) {
	s.policyFlag(f)
	f.StringVar(&p.version, "version", "", "version, tag or range of a module in a registry (default latest)")
	f.StringVar(&p.digest, "digest", "", "digest the module must have")
}

func (p *moduleAt) module(args []string) toolchain.Module {
	m := toolchain.Module{Place: ".", Version: p.version, Digest: p.digest}
	if len(args) > 0 {
		m.Place = args[0]
	}
	return m
}

// findings prints what was found on the way.
func (s *session) findings(fs diag.Findings) {
	if len(fs) > 0 {
		_ = report.Findings(s.Err, fs, s.style(s.Err))
	}
}

// table prints rows under a head, in columns.
func (s *session) table(head []string, rows [][]string, spare ...string) error {
	return report.Table(s.Out, head, rows, s.style(s.Out), spare...)
}

// annotations reads KEY=VALUE pairs.
func annotations(pairs []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range pairs {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return nil, usagef("-a %s is not KEY=VALUE", p)
		}
		out[key] = value
	}
	return out, nil
}

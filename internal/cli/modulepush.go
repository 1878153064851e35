package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/signing"
	"hawser.dev/hawser/internal/toolchain"
)

// target is where a push goes besides a registry, and how its answer looks.
type target struct {
	output string
	pairs  []string
	sign   signing.Sign
}

func (t *target) flags(s *session, f *pflag.FlagSet) {
	f.StringVarP(&t.output, "output", "o", "", "write an OCI layout into this directory, or an archive into this .tar file")
	f.StringArrayVarP(&t.pairs, "annotation", "a", nil, "annotation KEY=VALUE of the manifest (repeat it)")
	f.StringVar(&s.opts.output, "format", "text", "form of the answer: text, json, yaml")
	f.StringVar(&t.sign.Form, "sign", "", "sign it; the form is cosign")
	t.sign.Flags(f)
}

// check refuses what was meant for --format.
func (t *target) check(s *session) (map[string]string, error) {
	if slices.Contains(dataForms, t.output) {
		return nil, usagef("-o names a directory or a .tar file here\nThe form of the answer is chosen with --format %s", t.output)
	}
	if err := checkForm(s.opts.output, dataForms...); err != nil {
		return nil, err
	}
	return annotations(t.pairs)
}

// pushed prints what a push did: the digest on stdout, the rest on stderr.
func (s *session) pushed(what string, r toolchain.PushResult) error {
	return s.printData(r, func(report.Style) error {
		s.findings(r.Findings)
		done := "pushed"
		if r.Unchanged {
			done = "unchanged"
		}
		fmt.Fprintf(s.Err, "%s %s to %s (%s)\n", done, what, r.URL, strings.Join(r.Tags, ", "))
		if r.Signed != "" {
			fmt.Fprintf(s.Err, "signed by %s\n", r.Signed)
		}
		_, err := fmt.Fprintf(s.Out, "%s@%s\n", r.URL, r.Digest)
		return err
	})
}

func (s *session) modulePushCommand() *cobra.Command {
	var req toolchain.PushRequest
	var to target
	var latest bool
	cmd := &cobra.Command{
		Use:   "push DIR [oci://REGISTRY/REPOSITORY] --version VERSION",
		Short: "Publish a module as an OCI artifact",
		Args:  reference.Between(1, "DIR", "oci://REGISTRY/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.Annotations, err = to.check(s); err != nil {
				return err
			}
			if req.Sign, err = to.sign.Request(cmd.Flags()); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			if req.Dir, req.Output = args[0], to.output; len(args) > 1 {
				req.URL = args[1]
			}
			if cmd.Flags().Changed("latest") {
				req.Latest = &latest
			}
			got, err := t.Push(cmd.Context(), req)
			if err != nil {
				s.findings(got.Findings)
				return err
			}
			return s.pushed("version "+req.Version, got)
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Version, "version", "", "semantic version to publish")
	f.BoolVar(&latest, "latest", true, "publish it as latest, too; by default unless it is a pre-release")
	f.Bool("resolve-symlinks", true, "accepted for Timoni's sake: links to files of the module are always pushed as files")
	_ = f.MarkHidden("resolve-symlinks")
	f.BoolVar(&req.Force, "force", false, "let a version that exists change")
	to.flags(s, f)
	return cmd
}

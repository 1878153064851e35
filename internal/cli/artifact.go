package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/signing"
	"hawser.dev/hawser/internal/toolchain"
)

func (s *session) artifactCommand() *cobra.Command {
	return parent("artifact COMMAND", "Publish and get files as OCI artifacts",
		`Artifact stores files in a registry, such as the YAML that hawser build --output-dir wrote, in the form that Flux
(OCIRepository, flux pull artifact) or Timoni reads.`,
		`  hawser build -f shop.yaml --fleet fleet.yaml --output-dir rendered
  hawser artifact push oci://registry.example.com/shop/manifests -f rendered -t 1.4.2
  hawser artifact pull oci://registry.example.com/shop/manifests:1.4.2 -o got`,
		s.artifactBuildCommand(), s.artifactPushCommand(), s.artifactPullCommand(), s.artifactTagCommand(), s.artifactListCommand(),
		s.artifactDigestCommand(), s.artifactSignCommand(), s.artifactVerifyCommand())
}

func (s *session) artifactPushCommand() *cobra.Command {
	var req toolchain.ArtifactRequest
	var to target
	cmd := &cobra.Command{
		Use:   "push [oci://REGISTRY/REPOSITORY] -f DIR",
		Short: "Publish a directory or files",
		Args:  reference.AtMostOne("URL"),
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
			if req.Output = to.output; len(args) > 0 {
				req.URL = args[0]
			}
			got, err := t.PushArtifact(cmd.Context(), req)
			if err != nil {
				return err
			}
			return s.pushed("artifact", got)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&req.Files, "file", "f", nil, "directory, or file (repeat it), to publish")
	f.BoolVar(&req.ResolveSymlinks, "resolve-symlinks", false, "push the files that links lead to; they have to lie in the directory")
	f.StringArrayVarP(&req.Tags, "tag", "t", nil, "tag to set (repeat it; default latest)")
	f.BoolVar(&req.Force, "force", false, "let a version that exists change")
	f.BoolVar(&req.IncludeSecrets, "include-secrets", false, "publish Secrets in clear, too")
	formFlags(f, &req)
	to.flags(s, f)
	return cmd
}

// formFlags are what decides the digest of an artifact, besides its files and annotations.
func formFlags(f *pflag.FlagSet, req *toolchain.ArtifactRequest) {
	f.StringVar(&req.Form, "form", "flux", "whose media types: flux or timoni")
	f.StringVar(&req.ContentType, "content-type", "", "Timoni's word for the content (default generic, with --form timoni)")
}

func (s *session) artifactBuildCommand() *cobra.Command {
	var req toolchain.ArtifactRequest
	var to target
	var format string
	cmd := &cobra.Command{
		Use:   "build -f DIR -o FILE.tar",
		Short: "Pack a directory or files as an artifact on this machine",
		Args:  reference.Nothing,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			req.IncludeSecrets = true // nobody else gets them here
			if req.Annotations, err = annotations(to.pairs); err != nil {
				return err
			}
			if req.Output, err = toolchain.OutputURL(to.output, format); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			got, err := t.PushArtifact(cmd.Context(), req)
			if err != nil {
				return err
			}
			s.findings(got.Findings)
			fmt.Fprintf(s.Err, "packed into %s (%s)\n", to.output, strings.Join(got.Tags, ", "))
			_, err = fmt.Fprintln(s.Out, got.Digest)
			return err
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&req.Files, "file", "f", []string{"."}, "directory, or file (repeat it), to pack")
	f.StringArrayVarP(&req.Tags, "tag", "t", nil, "name of it in the archive or layout (repeat it; default latest)")
	f.StringVarP(&to.output, "output", "o", "", "file or directory to write")
	f.StringVar(&format, "format", "", "oci-archive or oci-layout (default: an archive if the name ends in .tar)")
	f.StringArrayVarP(&to.pairs, "annotation", "a", nil, "annotation KEY=VALUE of the manifest (repeat it)")
	formFlags(f, &req)
	return cmd
}

func (s *session) artifactDigestCommand() *cobra.Command {
	var req toolchain.ArtifactRequest
	var to target
	cmd := &cobra.Command{
		Use:   "digest oci://REGISTRY/REPOSITORY[:TAG] | DIR",
		Short: "Print the digest of an artifact, or of what a directory would be",
		Args:  reference.Exactly("URL or DIR"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			if req.Annotations, err = annotations(to.pairs); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			req.Files = args
			digest, err := t.DigestOf(cmd.Context(), req)
			if err != nil {
				return err
			}
			return s.printData(map[string]string{"artifact": args[0], "digest": digest}, func(report.Style) error {
				_, err := fmt.Fprintln(s.Out, digest)
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&to.pairs, "annotation", "a", nil, "annotation KEY=VALUE of what a directory would be (repeat it)")
	formFlags(f, &req)
	s.opts.outputFlag(f, dataForms...)
	return cmd
}

func (s *session) artifactPullCommand() *cobra.Command {
	var req toolchain.PullRequest
	var verify signing.Verify
	cmd := &cobra.Command{
		Use:   "pull oci://REGISTRY/REPOSITORY[:TAG|@DIGEST] [-o DIR]",
		Short: "Get the files of an artifact",
		Args:  reference.Exactly("oci://REGISTRY/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			if req.Verify, err = verify.Request(cmd.Flags()); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			req.URL = args[0]
			got, err := t.PullArtifact(cmd.Context(), req)
			if err != nil {
				return err
			}
			return s.pulled(got)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&req.Dir, "output", "o", ".", "directory to write into")
	f.StringVar(&req.Version, "version", "", "version, tag or range (default latest)")
	f.StringVar(&req.Digest, "digest", "", "digest the artifact must have")
	f.StringVar(&req.ContentType, "content-type", "", "only layers with this word of Timoni's, for example generic")
	f.StringVar(&s.opts.output, "format", "text", "form of the answer: text, json, yaml")
	verify.Flags(f)
	s.policyFlag(f)
	return cmd
}

func (s *session) artifactTagCommand() *cobra.Command {
	var tags []string
	cmd := &cobra.Command{
		Use:     "tag oci://REGISTRY/REPOSITORY:TAG -t NEW",
		Short:   "Give an artifact more tags",
		Long:    "Tag sets tags on an artifact that is in the registry, and prints its digest. A tag that means something else is moved.",
		Example: "  hawser artifact tag oci://registry.example.com/shop/manifests:1.4.2 -t stable -t latest",
		Args:    reference.Exactly("oci://REGISTRY/REPOSITORY:TAG"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			digest, err := t.TagArtifact(cmd.Context(), args[0], tags)
			if err != nil {
				return err
			}
			for _, tag := range tags {
				fmt.Fprintf(s.Err, "tagged %s as %s\n", args[0], tag)
			}
			_, err = fmt.Fprintln(s.Out, digest)
			return err
		},
	}
	cmd.Flags().StringArrayVarP(&tags, "tag", "t", nil, "tag to set (repeat it)")
	return cmd
}

func (s *session) artifactListCommand() *cobra.Command {
	req := &toolchain.ListRequest{}
	cmd := &cobra.Command{
		Use:   "list oci://REGISTRY/REPOSITORY",
		Short: "List the tags of an artifact",
		Args:  reference.Exactly("oci://REGISTRY/REPOSITORY"),
	}
	cmd.RunE = s.listed(cmd, req)
	return cmd
}

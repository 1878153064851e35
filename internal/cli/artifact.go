package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/toolchain"
)

func (s *session) artifactCommand() *cobra.Command {
	return parent("artifact COMMAND", "Publish and get files as OCI artifacts",
		`Artifact stores files in a registry, such as the YAML that hawser build --output-dir wrote, in the form that Flux
(OCIRepository, flux pull artifact) or Timoni reads.`,
		`  hawser build -f shop.yaml --fleet fleet.yaml --output-dir rendered
  hawser artifact push oci://registry.example.com/shop/manifests -f rendered -t 1.4.2
  hawser artifact pull oci://registry.example.com/shop/manifests:1.4.2 -o got`,
		s.artifactPushCommand(), s.artifactPullCommand(), s.artifactTagCommand(), s.artifactListCommand())
}

func (s *session) artifactPushCommand() *cobra.Command {
	var req toolchain.ArtifactRequest
	var to target
	cmd := &cobra.Command{
		Use:   "push [oci://REGISTRY/REPOSITORY] -f DIR",
		Short: "Publish a directory or files",
		Long: `Push publishes a directory, or files of one directory, under tags (default latest). The same files and annotations have
the same digest.`,
		Example: `  hawser artifact push oci://registry.example.com/shop/manifests -f rendered -t 1.4.2 -t latest
  hawser artifact push oci://registry.example.com/shop/bundle -f bundle.cue -f fleet.yaml -t 1.4.2 --form timoni
  hawser artifact push -f rendered -t 1.4.2 -o manifests.tar`,
		Args: atMostOne("URL"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if req.Annotations, err = to.check(s); err != nil {
				return err
			}
			t, err := s.tools()
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
	f.StringVar(&req.Form, "form", "flux", "whose media types: flux or timoni")
	f.StringVar(&req.ContentType, "content-type", "", "Timoni's word for the content (default generic, with --form timoni)")
	to.flags(s, f)
	return cmd
}

func (s *session) artifactPullCommand() *cobra.Command {
	var req toolchain.PullRequest
	cmd := &cobra.Command{
		Use:   "pull oci://REGISTRY/REPOSITORY[:TAG|@DIGEST] [-o DIR]",
		Short: "Get the files of an artifact",
		Long: `Pull gets the files of an artifact into a directory and prints its digest. What the directory holds stays: a file that
exists is an error before anything is written.`,
		Example: `  hawser artifact pull oci://registry.example.com/shop/manifests:1.4.2 -o got
  hawser artifact pull oci://registry.example.com/shop/manifests --version 1.x --digest sha256:0000000000000000000000000000000000000000000000000000000000000000`,
		Args: exactly("oci://REGISTRY/REPOSITORY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			t, err := s.tools()
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
	return cmd
}

func (s *session) artifactTagCommand() *cobra.Command {
	var tags []string
	cmd := &cobra.Command{
		Use:     "tag oci://REGISTRY/REPOSITORY:TAG -t NEW",
		Short:   "Give an artifact more tags",
		Long:    "Tag sets tags on an artifact that is in the registry, and prints its digest. A tag that means something else is moved.",
		Example: "  hawser artifact tag oci://registry.example.com/shop/manifests:1.4.2 -t stable -t latest",
		Args:    exactly("oci://REGISTRY/REPOSITORY:TAG"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.tools()
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
		Long:  "List shows all tags of a repository: versions first, the newest first, then other names, with digest and date.",
		Example: `  hawser artifact list oci://registry.example.com/shop/manifests
  hawser artifact list oci://registry.example.com/shop/manifests --filter-regex "^1\\." --with-digest=false`,
		Args: exactly("oci://REGISTRY/REPOSITORY"),
	}
	cmd.RunE = s.listed(cmd, req)
	return cmd
}

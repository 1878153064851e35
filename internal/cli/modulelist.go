package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/toolchain"
)

// listFlags are those of both lists.
func (s *session) listed(cmd *cobra.Command, req *toolchain.ListRequest) func(*cobra.Command, []string) error {
	f := cmd.Flags()
	f.IntVar(&req.Limit, "limit", 100, "how many to show at most, 0 for all")
	f.BoolVar(&req.Details, "with-digest", true, "ask for digests and dates, one request each")
	f.StringVar(&req.Range, "filter-semver", "", `only versions in this range, for example ">=1.2 <2"`)
	f.StringVar(&req.Regexp, "filter-regex", "", "only tags that match this regular expression")
	s.opts.outputFlag(f, dataForms...)
	return func(cmd *cobra.Command, args []string) error {
		if err := checkForm(s.opts.output, dataForms...); err != nil {
			return err
		}
		t, err := s.tools(cmd.Context())
		if err != nil {
			return err
		}
		req.URL = args[0]
		tags, broken := t.List(cmd.Context(), *req)
		if tags == nil {
			return broken
		}
		return cmp.Or(s.printData(map[string]any{"v": report.DocumentVersion, "url": req.URL, "tags": tags}, func(report.Style) error {
			head, rows := []string{"TAG"}, [][]string{}
			if req.Versions {
				head[0] = "VERSION"
			}
			if req.Details {
				head = append(head, "DIGEST", "CREATED", "")
			}
			for _, tag := range tags {
				row := []string{tag.Name}
				if req.Details {
					row = append(row, tag.Digest, tag.Created, map[bool]string{true: "latest"}[tag.Latest])
				}
				rows = append(rows, row)
			}
			return s.table(head, rows)
		}), broken)
	}
}

func (s *session) moduleListCommand() *cobra.Command {
	req := &toolchain.ListRequest{Versions: true}
	cmd := &cobra.Command{
		Use:   "list oci://REGISTRY/REPOSITORY",
		Short: "List the versions of a module",
		Long:  "List shows the published versions of a module, the newest first, with digest and date; latest marks those that the tag latest means.",
		Example: `  hawser module list oci://registry.example.com/modules/web
  hawser module list oci://registry.example.com/modules/web --filter-semver 1.x -o json`,
		Args: reference.Exactly("oci://REGISTRY/REPOSITORY"),
	}
	cmd.RunE = s.listed(cmd, req)
	return cmd
}

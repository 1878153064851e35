package cli

import (
	"bytes"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/built"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/toolchain"
)

func (s *session) moduleBuildCommand() *cobra.Command {
	var req toolchain.BuildRequest
	var at moduleAt
	var mask bool
	var form string
	cmd := &cobra.Command{
		Use:   "build [MODULE]",
		Short: "Print the objects of a module as YAML",
		Args:  reference.AtMostOne("module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(form, "yaml", "json"); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			req.Module, req.Stdin = at.module(args), s.In
			got, err := t.Build(cmd.Context(), req)
			if err != nil {
				return err
			}
			s.findings(got.Findings.Warnings())
			var b bytes.Buffer
			items := []any{}
			for i, o := range got.Objects {
				if mask {
					o = built.Masked(o, nil)
				}
				items = append(items, o.Body)
				text, err := built.Printed(o)
				if err != nil {
					return err
				}
				if i > 0 {
					b.WriteString("---\n")
				}
				b.Write(text)
			}
			if form == "json" {
				return report.JSON(s.Out, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
			}
			_, err = unmasked(s.Out).Write(b.Bytes())
			return err
		},
	}
	f := cmd.Flags()
	renderFlags(f, &req)
	at.flags(s, f)
	f.BoolVar(&mask, "mask-secrets", false, "print *** for the data of Secrets")
	f.StringVarP(&form, "output", "o", "yaml", "form of the output: yaml, json (one List)")
	return cmd
}

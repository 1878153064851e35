package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/toolchain"
)

func (s *session) moduleShowCommand() *cobra.Command {
	return parent("show COMMAND", "Show what a module says of itself",
		"Show reads a module, from a directory or a registry, and prints a part of it.",
		`  hawser module show readme ./web
  hawser module show config oci://registry.example.com/modules/web --version 1.0.0`,
		s.showText("readme", "its README"), s.showText("values", "its default values"), s.showText("schema", "the file with the schema of its values"),
		s.showText("license", "its license"), s.showConfig(), s.showInfo())
}

func (s *session) showText(what, short string) *cobra.Command {
	at, file := moduleAt{}, ""
	cmd := &cobra.Command{
		Use:     what + " [MODULE]",
		Short:   "Print " + short,
		Long:    "Show " + what + " prints " + short + " as it is: of a directory, or of what is published.",
		Example: "  hawser module show " + what + " ./web\n  hawser module show " + what + " oci://registry.example.com/modules/web",
		Args:    reference.AtMostOne("module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			text, err := t.Text(cmd.Context(), at.module(args), what)
			if err != nil {
				return err
			}
			if !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			if file != "" {
				if err := rootfs.Given(file); err != nil {
					return fmt.Errorf("%w: nothing is written through a link of a repository that leads out of it; name the file itself", err)
				}
				return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // it is no secret
			}
			_, err = fmt.Fprint(s.Out, text)
			return err
		},
	}
	at.flags(s, cmd.Flags())
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write")
	return cmd
}

func (s *session) showConfig() *cobra.Command {
	var at moduleAt
	forms := []string{"text", "markdown", "json", "yaml"}
	cmd := &cobra.Command{
		Use:   "config [MODULE]",
		Short: "List the values a module takes: type, default, comment",
		Args:  reference.AtMostOne("module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, forms...); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			settings, err := t.Config(cmd.Context(), at.module(args))
			if err != nil {
				return err
			}
			return s.printData(map[string]any{"v": report.DocumentVersion, "values": settings}, func(report.Style) error {
				return s.settings(settings, s.opts.output == "markdown")
			})
		},
	}
	at.flags(s, cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), forms...)
	return cmd
}

// settings prints values as a table, for people or as markdown.
func (s *session) settings(all []toolchain.Setting, markdown bool) error {
	var rows [][]string
	for _, x := range all {
		d := x.Default
		if x.Required {
			d = "required"
		}
		rows = append(rows, []string{x.Key, x.Type, d, x.Doc})
	}
	if !markdown {
		return s.table([]string{"VALUE", "TYPE", "DEFAULT", "DESCRIPTION"}, rows)
	}
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	if _, err := fmt.Fprint(s.Out, "| value | type | default | description |\n|---|---|---|---|\n"); err != nil {
		return err
	}
	for _, r := range rows {
		code := func(text string) string {
			if text == "" || text == "required" {
				return text
			}
			return "`" + cell(text) + "`"
		}
		if _, err := fmt.Fprintf(s.Out, "| %s | %s | %s | %s |\n", code(r[0]), code(r[1]), code(r[2]), cell(r[3])); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) showInfo() *cobra.Command {
	var at moduleAt
	cmd := &cobra.Command{
		Use:     "info [MODULE]",
		Short:   "Print path, version, digest and annotations",
		Long:    "Show info prints what identifies a module: its path in imports, version and digest, and what its manifest is annotated with.",
		Example: "  hawser module show info oci://registry.example.com/modules/web --version 1.0.0",
		Args:    reference.AtMostOne("module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			t, err := s.tools(cmd.Context())
			if err != nil {
				return err
			}
			got, err := t.Info(cmd.Context(), at.module(args))
			if err != nil {
				return err
			}
			return s.printData(got, func(report.Style) error {
				fmt.Fprintf(s.Out, "module:  %s\npath:    %s\nversion: %s\ndigest:  %s\nfiles:   %d\n", got.Module, got.Path, got.Version, got.Digest, len(got.Files))
				var keys []string
				for k := range got.Annotations {
					keys = append(keys, k)
				}
				slices.Sort(keys)
				for _, k := range keys {
					fmt.Fprintf(s.Out, "%s: %s\n", k, got.Annotations[k])
				}
				return nil
			})
		},
	}
	at.flags(s, cmd.Flags())
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	return cmd
}

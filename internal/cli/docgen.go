package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/reference"
)

func (s *session) docgenCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "docgen DIR",
		Short:   "Write the reference of all commands as markdown",
		Example: "  hawser docgen docs/cli",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			for name, text := range reference.Pages(cmd.Root(), reference.Spellings) {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

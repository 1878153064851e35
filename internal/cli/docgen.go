package cli

import (
	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/nofollow"
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
			dir, err := nofollow.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { _ = dir.Close() }()
			for name, text := range reference.Pages(cmd.Root(), reference.Spellings) {
				if err := dir.Write(name, []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

package reference

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// helps are the long texts of commands, by path ("artifact_push.txt"): what it does, and after a line "Examples:" the examples.
//
//go:embed help/*.txt
var helps embed.FS

// Describe gives every command of a tree that has no long text of its own the one that is written for it. Those below bundle
// have that of the command they spell otherwise.
func Describe(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		Describe(c)
	}
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	same := strings.TrimPrefix(path, "bundle ")
	text, err := helps.ReadFile("help/" + strings.ReplaceAll(same, " ", "_") + ".txt")
	if cmd.Long != "" || err != nil {
		return
	}
	long, examples, _ := strings.Cut(string(text), "\nExamples:\n")
	examples = strings.ReplaceAll(examples, "hawser "+same, "hawser "+path)
	cmd.Long, cmd.Example = strings.TrimSpace(long), strings.TrimRight(examples, "\n")
}

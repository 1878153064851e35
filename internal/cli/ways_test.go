package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/internal/interrupt"
	"hawser.dev/hawser/internal/reference"
)

// TestWaysExist: what answers words of other tools names commands and flags that there are, and no such word is a command.
func TestWaysExist(t *testing.T) {
	root := (&session{App: &App{}, Interruption: interrupt.New(func() {})}).commands()
	child := func(cmd *cobra.Command, word string) *cobra.Command {
		for _, c := range cmd.Commands() {
			if c.Name() == word || c.HasAlias(word) {
				return c
			}
		}
		return nil
	}
	for path, ways := range reference.Ways() {
		cmd, _, err := root.Find(strings.Fields(path)[1:])
		if err != nil {
			t.Fatal(err)
		}
		for words, way := range ways {
			if word := strings.Fields(words)[0]; child(cmd, word) != nil {
				t.Errorf("%s %s is a command, and is never answered with %q", path, word, way)
			}
			for _, part := range strings.Split(way, "hawser ")[1:] {
				named := root
				for _, word := range strings.Fields(part) {
					word = strings.TrimRight(word, ",;:")
					if c := child(named, word); c != nil && !strings.HasPrefix(word, "-") {
						named = c
					} else if name := strings.TrimLeft(word, "-"); name != word && !hasFlag(named, name) {
						t.Errorf("%s %s: %q names the flag %s, which %s has not", path, words, way, word, named.CommandPath())
					}
				}
				if named == root || named.Annotations["subcommands"] != "" {
					t.Errorf("%s %s: %q names no command", path, words, way)
				}
			}
		}
	}
}

func hasFlag(cmd *cobra.Command, name string) bool {
	own, all := cmd.Flags(), cmd.InheritedFlags()
	return own.Lookup(name) != nil || all.Lookup(name) != nil || len(name) == 1 && (own.ShorthandLookup(name) != nil || all.ShorthandLookup(name) != nil)
}

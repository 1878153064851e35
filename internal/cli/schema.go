package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/api/v1alpha1"
)

// schemas are the documents' JSON Schemas; a test makes them from the CUE ones and copies them to docs/schema.
//
//go:embed schema/*.json
var schemas embed.FS

// schemaKinds are the documents that have a schema.
var schemaKinds = []string{"bundle", "fleet"}

func (s *session) schemaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:       "schema bundle|fleet",
		Short:     "Print the schema of a document, for editors",
		ValidArgs: schemaKinds,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("schema needs the kind of one document\nUse one of: %s", strings.Join(schemaKinds, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			form := s.opts.output
			if form == "text" {
				form = "json"
			}
			if err := checkForm(form, "json", "cue"); err != nil {
				return err
			}
			kind := strings.ToLower(args[0])
			data, err := schemas.ReadFile("schema/" + kind + ".json")
			if err != nil {
				return usagef("no schema for %s\nUse one of: %s", args[0], strings.Join(schemaKinds, ", "))
			}
			if form == "cue" {
				data = []byte(cueSchema(kind))
			}
			_, err = s.Out.Write(data)
			return err
		},
	}
	s.opts.outputFlag(cmd.Flags(), "json", "cue")
	return cmd
}

// cueSchema is the CUE text of a document's schema: its definitions and the fields a file has.
func cueSchema(kind string) string {
	if kind == "fleet" {
		return v1alpha1.BundleSchema + "\n" + v1alpha1.FleetSchema + "\nfleet?:   #Fleet\nruntime?: #Runtime\n"
	}
	return v1alpha1.BundleSchema + "\nbundle?: #Bundle\nbundles?: [string]: #Bundle\n"
}

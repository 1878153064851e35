package cli

import (
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
)

// differences are the deliberate ones that a finding, by its code, makes matter.
var differences = map[string]string{
	"attribute-constraint": "a constraint beside @timoni(...) stays in force",
	"longer-list":          "a list may be longer than the module's own",
	"digest-mismatch":      "the digest of a local module is that of its directory's content",
}

// differFor says the differences that the findings make matter.
func (s *session) differFor(fs diag.Findings) {
	for _, f := range fs {
		if text := differences[f.Code]; text != "" {
			s.differ(f.Code, text)
		}
		if f.Severity == diag.Error && slices.Contains(s.opts.fleetFiles, f.Pos.File) {
			s.differ("runtime", "a runtime file is checked: what is missing or misspelled in it is an error")
		}
	}
}

// differ says a deliberate difference from Timoni where it matters: under `bundle` and `runtime` only, once each.
func (s *session) differ(key, text string) {
	if !s.compat || s.said[key] {
		return
	}
	if s.said == nil {
		s.said = map[string]bool{}
	}
	s.said[key] = true
	fmt.Fprintln(s.Err, "Unlike Timoni: "+text)
}

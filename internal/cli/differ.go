package cli

import "fmt"

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

package cuelang

import "testing"

// TestYAMLThatBreaksTheLibrary: line ends of bare carriage returns make the library panic; they are an error with a place.
func TestYAMLThatBreaksTheLibrary(t *testing.T) {
	for _, text := range []string{"\r\r\"\"", "\r\rʰ", "\r\r55"} {
		_, err := FromYAML("values.yaml", []byte(text))
		if fs := FindingsFor(err, Show{Code: "yaml"}); err != nil && (len(fs) != 1 || fs[0].Pos.File != "values.yaml") {
			t.Errorf("%q: %v", text, fs)
		}
	}
}

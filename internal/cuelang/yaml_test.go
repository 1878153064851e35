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

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "\n \n": true, "# nothing": true, "---\n# a: b\n---\n": true, "--- # first\n...\n": true,
		"a: 1": false, "# c\na: 1": false, "--- {}": false, "---a": false, "null": false, "{}": false, "#\n- x": false,
	} {
		if got := Blank([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

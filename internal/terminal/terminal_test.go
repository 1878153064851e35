package terminal

import (
	"os"
	"testing"
)

// TestColored: what was chosen goes before the environment, and that before what the stream is.
func TestColored(t *testing.T) {
	for name, c := range map[string]struct {
		chosen string
		env    map[string]string
		is     bool
		want   bool
	}{
		"a terminal":             {"auto", nil, true, true},
		"a file":                 {"auto", nil, false, false},
		"always":                 {"always", map[string]string{"NO_COLOR": "1"}, false, true},
		"never":                  {"never", map[string]string{"CLICOLOR_FORCE": "1"}, true, false},
		"NO_COLOR":               {"auto", map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, true, false},
		"CLICOLOR_FORCE":         {"auto", map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		"CLICOLOR_FORCE is none": {"auto", map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		"a dumb terminal":        {"auto", map[string]string{"TERM": "dumb"}, true, false},
	} {
		if got := Colored(c.chosen, func(name string) string { return c.env[name] }, func() bool { return c.is }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUnicode: the locale decides, the first variable that is set; without any there is Unicode.
func TestUnicode(t *testing.T) {
	for want, envs := range map[bool][]map[string]string{
		true:  {{}, {"LANG": "en_GB.UTF-8"}, {"LC_ALL": "C.utf8", "LANG": "C"}},
		false: {{"LANG": "C"}, {"LC_CTYPE": "POSIX", "LANG": "en_GB.UTF-8"}},
	} {
		for _, env := range envs {
			if got := Unicode(func(name string) string { return env[name] }); got != want {
				t.Errorf("%v: %v", env, got)
			}
		}
	}
}

// TestIs: a file and what is no file at all are no terminals.
func TestIs(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Is(f) || Is("x") || Is(nil) {
		t.Error("that is no terminal")
	}
}

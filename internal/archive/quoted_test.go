package archive

import (
	"archive/tar"
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesAreNotCut: a name of an entry, or of what a link leads to, is quoted whole or not at all, as the redactor, which comes later, would not
// know a part of a secret; what gives orders to a terminal is shown as an escape.
func TestNamesAreNotCut(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	for _, pad := range []int{0, 150, 180, 190, 199, 250, 990, 1010, 1100} {
		long := strings.Repeat("x/", pad/2) + secret
		for name, data := range map[string][]byte{
			"a name":                makeTar(t, file("../"+long, "")),
			"a link that leads out": makeTar(t, symlink("l", "../"+long)),
			"a link to nothing":     makeTar(t, symlink("l", long)),
			"a link that is odd":    makeTar(t, symlink("l", "/"+long)),
			"a hard link":           makeTar(t, hardlink("l", long)),
			"a device":              makeTar(t, kind(long, tar.TypeChar)),
			"a name of controls":    makeTar(t, file("\x1b[2J\n::error::\u202e"+long, "")),
		} {
			err := Extract(t.Context(), bytes.NewReader(data), filepath.Join(t.TempDir(), "out"), Limits{})
			if err == nil {
				t.Fatalf("%s of %d bytes is taken", name, len(long))
			}
			text := err.Error()
			if strings.Contains(text, "x/x") && !strings.Contains(text, secret) {
				t.Errorf("%s of %d bytes is cut: %s", name, len(long), text)
			}
			if strings.ContainsAny(text, "\x1b\n\u202e") {
				t.Errorf("%s gives orders: %q", name, text)
			}
		}
	}
}

package diag_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestText: the name of a file parts no message into lines.
func TestText(t *testing.T) {
	at := func(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist} }
	for want, err := range map[string]error{
		`open /a/d\nx/y: file does not exist`:                      at("/a/d\nx/y"),
		"writing: open d\\r\\nx: file does not exist\nsecond line": fmt.Errorf("writing: %w\nsecond line", at("d\r\nx")),
		"open plain: file does not exist":                          at("plain"),
		"first\nsecond":                                            errors.New("first\nsecond"),
	} {
		if got := diag.Text(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if fs := diag.From(err, "x"); fs[0].What != want {
			t.Errorf("a finding says %q, want %q", fs[0].What, want)
		}
	}
}

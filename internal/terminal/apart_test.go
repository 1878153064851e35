package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a library prints on standard error goes nowhere; what we say there arrives.
func TestApart(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func(library, own *os.File) { os.Stderr, Stderr = library, own }(os.Stderr, Stderr)
	os.Stderr, Stderr = file, file
	Apart()
	if _, err := fmt.Fprintln(os.Stderr, "# Warning: 'bases' is deprecated."); err != nil {
		t.Error(err)
	}
	_ = os.Stderr.Close()
	if _, err := fmt.Fprintln(Stderr, "ours"); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(file.Name()); err != nil || string(data) != "ours\n" {
		t.Errorf("%q %v", data, err)
	}
}

package rootfs

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// TestContentAsName: the content of a file that is taken for its path is not quoted; a path is.
func TestContentAsName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{`{"type":"hunter2"}`, "token: hunter2", dir + "/GOCSPX-hunter2hunter2hunter2hu", "MHcCAQEEIhunter2", dir + "/MHcCAQEEIhunter2"} {
		if _, err := ReadFile(name, MaxSmall); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "MHcCAQ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFile(dir+"/x.json", MaxSmall); err == nil || !strings.Contains(err.Error(), dir+"/x.json") {
		t.Errorf("%v", err)
	}
}

package localprocess

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// A process that ended is gone, and so is one whose number another has now; this one, one of another machine and one that
// cannot be told are not.
func TestGone(t *testing.T) {
	self := Self()
	if runtime.GOOS != "linux" {
		if self != (ID{}) {
			t.Errorf("%+v", self)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid, ticks, _ := strings.Cut(self.Process, "/")
	for name, c := range map[string]struct {
		id   ID
		gone bool
	}{
		"this one":        {self, false},
		"ended":           {ID{self.Machine, decimal(cmd.Process.Pid) + "/1"}, true},
		"number reused":   {ID{self.Machine, pid + "/1" + ticks}, true},
		"another machine": {ID{"other/" + self.Machine, decimal(cmd.Process.Pid) + "/1"}, false},
		"unknown":         {ID{}, false},
		"no number":       {ID{self.Machine, "x/1"}, false},
	} {
		if got := c.id.Gone(); got != c.gone {
			t.Errorf("%s: gone is %t", name, got)
		}
	}
}

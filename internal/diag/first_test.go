package diag

import "testing"

// Errors come before what is left out, which is a number.
func TestFirst(t *testing.T) {
	var fs Findings
	for i := range 30 {
		f := Warnf("w", "careful %d", i)
		if i >= 27 {
			f = Errorf("e", "wrong %d", i)
		}
		fs = append(fs, f)
	}
	got := fs.First(10)
	if len(got) != 11 || got[0].What != "wrong 27" || got[3].What != "careful 0" || got[10].Code != CodeMore || got[10].What != "and 20 more findings, which are left out" {
		t.Errorf("%+v", got)
	}
	if got := fs.First(30); len(got) != 30 || got[0].What != "careful 0" {
		t.Errorf("%+v", got)
	}
}

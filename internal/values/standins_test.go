package values

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/secret"
)

// How many references are not read is said once, and which, each once, where stand-ins are wanted.
func TestStoodIn(t *testing.T) {
	var fs diag.Findings
	for _, name := range []string{"b", "a", "b"} {
		_, _, f := stands(secret.Ref{Store: secret.DefaultStore, Path: name}, "it cannot be read here")
		fs = append(fs, *f)
	}
	fs = append(fs, diag.Warnf(CodeNotRead, "ref://c is known only when bundle x is done"))
	if got := StoodIn(fs, false); len(got) != len(fs) {
		t.Error(got)
	}
	if got := StoodIn(fs[3:], true); len(got) != 1 {
		t.Error(got)
	}
	got := StoodIn(fs, true)
	if last := got[len(got)-1]; len(got) != len(fs)+1 || last.Severity != diag.Warning || !strings.HasSuffix(last.What, "2 references are not read, and stand for themselves: ref://a, ref://b") {
		t.Error(last)
	}
	if got := StoodIn(fs[:1], true); !strings.HasPrefix(got[1].What, "1 reference is not read, and stands for itself: ref://b") || !strings.HasPrefix(got[1].Fix, "what depends on its value is not checked") {
		t.Error(got)
	}
}

// What an instance that does not render with stand-ins would print is not there: that is an error, which says so.
func TestUnbuilt(t *testing.T) {
	fs := diag.Findings{diag.Warnf(bind.CodeMisfit, "instance api does not render with what stands in for ref://a"), diag.Warnf(CodeNotRead, "x")}
	got := Unbuilt(fs)
	if errs := got.Errors(); len(errs) != 1 || errs[0].Code != bind.CodeMisfit || !strings.Contains(errs[0].Fix, "a stand-in does not fit") || fs.HasErrors() {
		t.Error(got)
	}
}

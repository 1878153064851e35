package redact

import (
	"strings"
	"testing"
)

// TestCases: what templates make of the letters of a secret (upper, lower, title, untitle, swapcase) is hidden; a word is not sought as a title, which
// could be a kind, or a word of ours.
func TestCases(t *testing.T) {
	for _, c := range [][2]string{
		{"hunter2-x9pass two", "Hunter2-X9pass Two"}, {"Hunter2-X9Pass Two", "hunter2-X9Pass two"}, {"hUnter2-X9pass tWo", "HuNTER2-x9PASS TwO"},
		{"k9zq\"xw-pass", `K9zq\"Xw-Pass`}, {"passwört-9äx7", "Passwört-9äx7"}, {"k9zq_xw.pass", "K9zq_xw.Pass"}, {"k9zq_xw.pass", "K9ZQ_XW.PASS"},
		{"hUnter2-x9paSS tWo", "Hunter2-X9pass Two"}, {"hUnter2-x9paSS tWo", "hUNTER2-X9PASS tWO"},
	} {
		if got := New(c[0]).Redact("a " + c[1] + " b"); got != "a "+Mask+" b" {
			t.Errorf("%q of %q: %s", c[1], c[0], got)
		}
	}
	if got := New("deployment").Value("", "Deployment"); got != "Deployment" {
		t.Errorf("%s", got)
	}
	if long := strings.Repeat("aB3x", longestRecased); len(cases(long, unmistakable)) != 3 || len(cases("k9zq-xw", unmistakable)) != 1 {
		t.Error("not within its bounds")
	}
}

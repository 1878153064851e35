package secret

import (
	"strings"
	"testing"
)

// TestWrongReferenceIsNamedWhole: what is wrong with a reference is told with the reference as it stands there, its store included, and without
// what follows the question mark.
func TestWrongReferenceIsNamedWhole(t *testing.T) {
	for _, text := range []string{"ref://files:../x", "ref://files:a//b", "ref://files:", "ref://files:a/b?version=1&x=s3cret", "ref://files:a/b?%zz=s3cret", "ref://:a/b", "ref://files:a/%2e%2e/b"} {
		_, err := ParseRef(text)
		want, _, _ := strings.Cut(text, "?")
		if err == nil || !strings.HasPrefix(err.Error(), want+": ") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestBlankBehindAReference: what stands behind a reference is no part of the name that it has, unless it is written as such; it is told as what it
// is, as nobody sees it in "the variable ADMIN_TOKEN is not set".
func TestBlankBehindAReference(t *testing.T) {
	for _, text := range []string{"ref://ADMIN_TOKEN ", "ref://ADMIN_TOKEN\n", "ref://ADMIN_TOKEN\t ", "ref://ADMIN_TOKEN\u00a0"} {
		if _, err := ParseRef(text); err == nil || !strings.Contains(err.Error(), "ref://ADMIN_TOKEN has a blank or a line end behind it") {
			t.Errorf("%q: %v", text, err)
		}
	}
	r, err := ParseRef("ref://files:a b/c%20")
	if err != nil || r.Path != "a b" || r.Property != "c " {
		t.Errorf("%+v, %v", r, err)
	}
	if back, err := ParseRef(r.String()); err != nil || back != r {
		t.Errorf("%s: %+v, %v", r, back, err)
	}
}

// TestBlankInsideAReference: so is a blank at the begin or the end of a part; one between its characters is the name's.
func TestBlankInsideAReference(t *testing.T) {
	for text, name := range map[string]string{"ref:// ADMIN_TOKEN": "ADMIN_TOKEN", "ref://default: ADMIN_TOKEN": "ADMIN_TOKEN", "ref://ADMIN_TOKEN /a": "ADMIN_TOKEN",
		"ref://ADMIN_TOKEN/ a": "a", "ref://A ?version=s3cret": "A", "ref:// files:a": "files", "ref://files :a": "files"} {
		if _, err := ParseRef(text); err == nil || !strings.Contains(err.Error(), "has a blank or a line end before or behind \""+name+"\"") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if r, err := ParseRef("ref://files:%20a b"); err != nil || r.Path != " a b" {
		t.Errorf("%+v, %v", r, err)
	}
}

package archive

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// What stands in an archive's place is told as what it is, packed and not, long and short; an archive that is damaged or cut off is none of it.
func TestOther(t *testing.T) {
	html := "\n<!DOCTYPE html>\n<html><title>Log in</title>" + strings.Repeat("<p>one of many", 100)
	for _, c := range []struct{ text, what string }{
		{html, "an HTML page"}, {html[:60], "an HTML page"}, {"\ufeff<HTML><body>401", "an HTML page"}, {`<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`, "an XML document"},
		{`{"errors": [{"code": "UNAUTHORIZED"}]}`, "a JSON document"}, {"[1]", "a JSON document"}, {"PK\x03\x04\x00", "a zip archive"}, {"BZh91AY", "packed by bzip2"},
		{"\xfd7zXZ\x00\x00", "packed by xz"}, {"(\xb5/\xfd\x04", "packed by zstd"}, {"%PDF-1.7", "a PDF document"}, {"\x7fELF\x02", "a program"},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS, whose file was not fetched (git lfs pull)"},
		{"404 page not found\n", "a text"}, {strings.Repeat("ä", 256) + "\x00", "a text"}, {strings.Repeat("x", 511) + "ä", "a text"}, {"\x00\x01\x02", ""}, {strings.Repeat("\xff", 2000), ""},
	} {
		want := map[bool]string{true: "archive: it is " + c.what + ", and neither gzip nor a tar", false: "archive: it is neither gzip nor a tar"}[c.what != ""]
		wantReason(t, []byte(c.text), want)
		want = map[bool]string{true: "archive: what is packed in it is " + c.what + ", and no tar", false: "archive: what is packed in it is no tar"}[c.what != ""]
		wantReason(t, zip(t, []byte(c.text)), want)
	}
	good := makeTar(t, file("a.yaml", "a: 1\n"))
	wantReason(t, zip(t, zip(t, good)), "archive: what is packed in it is packed by gzip once more, and no tar")
	wantReason(t, good[:300], "archive: it is cut off")
	wantReason(t, zip(t, []byte(html))[:40], "archive: it is cut off")
	wantReason(t, append(bytes.Clone(good[:1024]), html...), "archive: it is damaged or no tar: archive/tar: invalid tar header")
	bad := bytes.Clone(good)
	bad[0] ^= 1 // its sum is another one
	wantReason(t, bad, "archive: it is damaged or no tar: archive/tar: invalid tar header")
}

// wantReason extracts what is to be refused, and the files of it told, for one reason.
func wantReason(t *testing.T, data []byte, want string) {
	t.Helper()
	source := func() (io.ReadCloser, error) { return io.NopCloser(iotest.OneByteReader(bytes.NewReader(data))), nil }
	_, err := Sums(t.Context(), []Source{source}, Limits{})
	if err == nil || err.Error() != want {
		t.Errorf("%.40q: %v, want %s", data, err, want)
	}
	err = Extract(t.Context(), bytes.NewReader(data), filepath.Join(t.TempDir(), "out"), Limits{})
	if err == nil || err.Error() != want || !IsRefused(err) {
		t.Errorf("%.40q: %v, want %s", data, err, want)
	}
}

// A reader that fails within the first header is no archive of another kind.
func TestOtherInterrupted(t *testing.T) {
	gone := errors.New("the connection is gone")
	for _, head := range []string{"<html>", "\x00"} {
		err := Extract(t.Context(), io.MultiReader(strings.NewReader(head), iotest.ErrReader(gone)), filepath.Join(t.TempDir(), "out"), Limits{})
		if refused, ok := errors.AsType[*Error](err); ok && refused.Rule == Other || !strings.Contains(err.Error(), gone.Error()) {
			t.Error(err)
		}
	}
}

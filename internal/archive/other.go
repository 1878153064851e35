package archive

import (
	"bytes"
	"errors"
	"unicode"
	"unicode/utf8"
)

// headBytes are the first bytes of a stream by which it is known: a tar's header.
const headBytes = 512

// refusal is damaged of an error that ended the reading of a header; where nothing was a header, it says what is there instead.
func (s *stream) refusal(err error) error {
	err = damaged(err)
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Rule != Format || s.broken != nil || s.read > headBytes || isTar(s.head) {
		return err
	}
	what := kindOf(s.head)
	switch {
	case what == "" && s.packed:
		return refuse(Other, "", "what is packed in it is no tar")
	case what == "":
		return refuse(Other, "", "it is neither gzip nor a tar")
	case s.packed:
		return refuse(Other, "", "what is packed in it is %s, and no tar", what)
	}
	return refuse(Other, "", "it is %s, and neither gzip nor a tar", what)
}

// kinds are what is found in an archive's place, by how it begins.
var kinds = []struct{ head, what string }{
	{"PK\x03\x04", "a zip archive"}, {"BZh", "packed by bzip2"}, {"\xfd7zXZ\x00", "packed by xz"}, {"(\xb5/\xfd", "packed by zstd"},
	{"\x1f\x8b", "packed by gzip once more"}, {"%PDF-", "a PDF document"}, {"\x7fELF", "a program"},
	{"version https://git-lfs.", "a pointer of Git LFS, whose file was not fetched (git lfs pull)"}, {"{", "a JSON document"}, {"[", "a JSON document"},
}

// kindOf tells what begins with the bytes, "" when nobody knows.
func kindOf(head []byte) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	for _, k := range kinds {
		if bytes.HasPrefix(text, []byte(k.head)) {
			return k.what
		}
	}
	if lower := bytes.ToLower(text); bytes.HasPrefix(lower, []byte("<")) {
		if bytes.Contains(lower, []byte("<html")) || bytes.Contains(lower, []byte("<!doctype html")) {
			return "an HTML page"
		}
		return "an XML document"
	}
	if isText(text) {
		return "a text"
	}
	return ""
}

// isText reports whether the first bytes of something are those of a text, whose last character may be cut.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		if r == utf8.RuneError && size == 1 && utf8.FullRune(head) || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		head = head[size:]
	}
	return true
}

package redact

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// block is of how many bytes a Prefilter knows where they may stand, longestWindow how much it looks at of a form at most: its end.
const (
	block         = 3
	longestWindow = 64
	blockBits     = 12
)

// Prefilter tells of most documents in JSON, without reading all of their bytes, that nothing is in them which stands for nothing but a secret: it finds
// the forms that Sweep hides, and not what is escaped or encoded once more (Wu and Manber's algorithm for many patterns, 1994). A nil one finds nothing.
type Prefilter struct {
	window int
	html   bool                  // a form has characters that Go writes as escapes
	wide   bool                  // a form has characters that are not ASCII, which JSON has as escapes in many ways
	shift  [1 << blockBits]uint8 // how much further a form may end at the earliest, by the last bytes before
	ends   map[uint32][]string   // forms by their last bytes
}

// Prefilter is one of what is known now.
func (r *Redactor) Prefilter() *Prefilter {
	forms := map[string]bool{}
	for _, text := range r.finder(sweeping, "").forms {
		forms[text] = true
	}
	for _, list := range r.sent.sorted(0) {
		for text := range list.forms {
			forms[text] = true
		}
	}
	if len(forms) == 0 {
		return nil
	}
	p := &Prefilter{window: longestWindow, ends: map[uint32][]string{}}
	for text := range forms {
		p.window, p.html = min(p.window, len(text)), p.html || strings.ContainsAny(text, "<>&")
		p.wide = p.wide || strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf })
	}
	if p.window <= block {
		return p
	}
	for i := range p.shift {
		p.shift[i] = uint8(p.window - block + 1)
	}
	for text := range forms {
		end := text[len(text)-p.window:]
		for i := block; i <= p.window; i++ {
			at := blockOf(uint32(end[i-3]) | uint32(end[i-2])<<8 | uint32(end[i-1])<<16)
			if p.shift[at] = min(p.shift[at], uint8(p.window-i)); i == p.window {
				p.ends[at] = append(p.ends[at], text)
			}
		}
	}
	return p
}

// blockOf is the place of three bytes among all of them (Knuth's multiplicative hashing).
func blockOf(bytes uint32) uint32 { return bytes * 2654435761 >> (32 - blockBits) }

// May reports whether something may be in a document.
func (p *Prefilter) May(document []byte) bool {
	if p == nil {
		return false
	}
	if p.window <= block || spelled(document, p.html, p.wide) {
		return true
	}
	for end := p.window; end <= len(document); {
		at := blockOf(binary.LittleEndian.Uint32(document[end-block-1:]) >> 8)
		if far := int(p.shift[at]); far > 0 {
			end += far
			continue
		}
		for _, text := range p.ends[at] {
			if len(text) <= end && string(document[end-len(text):end]) == text {
				return true
			}
		}
		end++
	}
	return false
}

// spelled reports whether a document has characters of ASCII as escapes that JSON does not need; those that Go writes, of HTML, are some where they count,
// and all others where wide ones do.
func spelled(document []byte, html, wide bool) bool {
	for {
		i := bytes.IndexByte(document, '\\')
		if i < 0 {
			return false
		}
		n := 1 // an escape may be one in a document in this one
		for i+n < len(document) && document[i+n] == '\\' {
			n++
		}
		if document = document[i+n:]; len(document) == 0 {
			return false
		}
		if document[0] == '/' && n%2 == 1 {
			return true
		}
		if wide && document[0] == 'u' {
			return true
		}
		if len(document) > 4 && string(document[:3]) == "u00" {
			digits := string(document[3:5])
			if digits[0] >= '2' && digits[0] <= '7' && (html || digits != "3c" && digits != "3e" && digits != "26") {
				return true
			}
		}
	}
}

// Holds reports whether something is in a text that stands for nothing but a secret.
func (r *Redactor) Holds(text string) bool {
	return len(r.sent.spans(text, r.finder(sweeping, "").spans(text))) > 0
}

package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestWhole is the length from which characters of base64 are taken for such a text (a name and a number of four digits), shortestRun
// the one from which something else may be written before and behind it; inBase64 are they, of both alphabets.
const shortestWhole, shortestRun = 8, 10

var inBase64 = func() (in [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		in[c] = true
	}
	return in
}()

// runs are the runs of base64 in a text that hold what must not be seen: as a whole where all of it is one text in base64, else
// as far as it is one, whatever is written before and behind it. at are the places of the text's bytes in another one, in which
// these lines are parted: then those runs alone count that go over the end of one.
func (f *finder) runs(text string, at []int, depth int) (out []span) {
	for from := 0; from < len(text); from++ {
		to := from
		for to < len(text) && inBase64[text[to]] {
			to++
		}
		if to-from >= shortestWhole && (at == nil || crosses(at, from, to)) {
			if decoded, ok := decodedText(text[from:to]); ok {
				if len(f.read(decoded, depth-1)) > 0 {
					end := to
					for end < len(text) && text[end] == '=' {
						end++
					}
					out = append(out, span{from, end})
				}
			} else if to-from >= shortestRun {
				for _, s := range f.glued(text[from:to], depth) {
					out = append(out, span{from + s.from, from + s.to})
				}
			}
		}
		from = to
	}
	return out
}

// glued are the parts of a run that hold a secret in base64 when they begin and end anywhere in it: a text is read from each of the
// four places in a group of digits, and what of that is text.
func (f *finder) glued(run string, depth int) (out []span) {
	digits := []byte(run)
	for i, c := range digits {
		switch c {
		case '-':
			digits[i] = '+'
		case '_':
			digits[i] = '/'
		}
	}
	data := make([]byte, base64.RawStdEncoding.DecodedLen(len(digits)))
	for phase := range min(4, len(digits)) {
		part := digits[phase:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		n, err := base64.RawStdEncoding.Decode(data, part)
		if err != nil {
			continue
		}
		for _, s := range readable(data[:n]) {
			if len(f.read(string(data[s.from:s.to]), depth-1)) > 0 {
				out = append(out, span{phase + s.from*8/6, min(len(run), phase+(s.to*8+5)/6)})
			}
		}
	}
	return out
}

// readable are the parts of bytes that are text.
func readable(data []byte) (out []span) {
	from := 0
	end := func(to int) {
		if to-from >= shortestMixed {
			out = append(out, span{from, to})
		}
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 || unicode.IsControl(r) && !unicode.IsSpace(r) {
			end(i)
			from = i + n
		}
		i += n
	}
	end(len(data))
	return out
}

// unwrap takes the line ends away, with the white space around them, where characters of base64 are on both sides: such texts are
// written in lines. at are the places of the bytes in the text; nil where nothing is taken away.
func unwrap(text string) (string, []int) {
	if strings.IndexByte(text, '\n') < 0 && strings.IndexByte(text, '\r') < 0 {
		return text, nil
	}
	var b []byte
	var at []int
	for i := 0; i < len(text); i++ {
		end := i
		lines := 0
		if i > 0 && inBase64[text[i-1]] {
			for end < len(text) && (text[end] <= ' ' || text[end] == '\\' && end+1 < len(text) && (text[end+1] == '\n' || text[end+1] == '\r')) {
				if text[end] == '\n' || text[end] == '\r' {
					lines++
				}
				end++
			}
		}
		if lines > 0 && end < len(text) && inBase64[text[end]] {
			if at == nil {
				b = append(make([]byte, 0, len(text)), text[:i]...)
				at = make([]int, i, len(text))
				for j := range at {
					at[j] = j
				}
			}
			i = end
		}
		if at != nil {
			b = append(b, text[i])
			at = append(at, i)
		}
	}
	return string(b), at
}

// crosses reports whether bytes of a text stand apart in the one that at tells their places in.
func crosses(at []int, from, to int) bool { return at[to-1]-at[from] != to-1-from }

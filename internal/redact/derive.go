package redact

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"hawser.dev/hawser/internal/lazyregexp"
)

// What templates commonly take out of a value, hidden however common it is: the password of an address without a scheme
// (root:PW@tcp(...)), the values of KEY=value lines, the items of a list with commas.
var (
	userPassword = lazyregexp.New(`(?:^|[\s,;=/])[^\s:/@,;=]+:([^\s@/]+)@`)
	assignment   = lazyregexp.New(`(?m)^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_.-]*=(.+)$`)
)

// Bounds of what is taken apart of one value: texts in texts, bytes that are looked at, and pieces that are hidden.
const (
	derivedDepth  = 4
	derivedBytes  = 1 << 20
	derivedPieces = 1000
	// longestToken is the length up to which a run of base64's characters is cut at its / and =.
	longestToken = 40
)

// separators part what configurations write into one line; dividers are those that part it into things of their own.
const (
	separators = ".,;|&=:@/\"'<>?()[]{}#"
	dividers   = ",;|&\"'"
)

// pieces collects what ordinary templates make of a value by taking it apart.
type pieces struct {
	whole string
	out   []string
	seen  map[string]bool
	left  int // bytes
}

// derivedFrom are the pieces of a value that stand for nothing else: what is between separators, behind the first or last one,
// a text in a document, in base64 or percent-encoded, and the pieces of those. What is common in them stays, but for
// the few that surely are the value of something.
func derivedFrom(value string) []string {
	p := &pieces{whole: value, seen: map[string]bool{}, left: derivedBytes}
	p.text(value, derivedDepth)
	return p.out
}

// spend reports whether a text is new and there is room for it.
func (p *pieces) spend(kind, text string) bool {
	if len(text) < shortestMixed || p.seen[kind+text] || p.left < len(text) || len(p.out) >= derivedPieces {
		return false
	}
	p.seen[kind+text] = true
	p.left -= len(text)
	return true
}

func bare(text string) string { return strings.Trim(strings.TrimSpace(text), "\"'`") }

// keep hides a piece if it stands for nothing else.
func (p *pieces) keep(text string) {
	if text != p.whole && len(text) >= shortestMixed && !p.seen["k"+text] && len(p.out) < derivedPieces {
		p.seen["k"+text] = true
		if strengthOf(text) == unmistakable {
			p.out = append(p.out, text)
		}
	}
}

// text takes a text apart that may have lines, or be a document.
func (p *pieces) text(text string, depth int) {
	if depth < 0 || !p.spend("t", text) {
		return
	}
	p.common(text)
	p.hosts(text)
	for _, password := range passwords(text) {
		if password != p.whole && !p.seen["c"+password] && len(p.out) < derivedPieces {
			p.seen["c"+password] = true
			p.out = append(p.out, password)
		}
		p.value(password, depth)
	}
	if depth < derivedDepth {
		for _, leaf := range leavesOf(text) {
			p.out = append(p.out, leaf)
			p.text(leaf, depth-1)
		}
	} else {
		for _, leaf := range leavesOf(text) { // partsOf has them
			p.text(leaf, depth-1)
		}
	}
	p.encoded(text, depth)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		p.segment(line, depth)
		for _, field := range strings.Fields(line) {
			p.segment(field, depth)
		}
		for _, divider := range dividers {
			if items := strings.Split(line, string(divider)); len(items) > 1 {
				for _, item := range items {
					p.segment(item, depth)
				}
			}
		}
		for _, field := range strings.Fields(line) {
			if len(field) > longestToken && strings.Trim(field, "+/=_-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == "" {
				continue
			}
			for _, atom := range strings.FieldsFunc(field, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
				if _, number := numberOf(atom); !number {
					p.keep(atom)
					p.encoded(atom, depth)
				}
			}
		}
	}
}

// host is where an address leads: names or numbers with dots, several with commas where each has a port or a dot.
var host = lazyregexp.New(`^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]+)?(?:,[A-Za-z0-9._-]+:[0-9]+|,[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)*`)

// hosts leaves out where an address leads whose user authenticates: it is no secret, and objects are called like it. What is in the rest of the text, too,
// may be one, and so may what is no host.
func (p *pieces) hosts(text string) {
	var hosts []string
	rest := text
	for _, m := range userInfo.FindAllStringIndex(text, maxForms) {
		at := host.FindString(text[m[1]:])
		if end := m[1] + len(at); at != "" && (end == len(text) || strings.IndexByte("/?#&\"'`<> \t\r\n", text[end]) >= 0) {
			hosts, rest = append(hosts, at), strings.Replace(rest, "@"+at, "@", 1)
		}
	}
	for _, at := range hosts {
		names := []string{at}
		for _, one := range strings.Split(at, ",") {
			name, _, _ := strings.Cut(one, ":")
			names = append(append(names, one, name), strings.Split(name, ".")...)
		}
		for _, name := range names {
			if !strings.Contains(rest, name) {
				p.seen["k"+name] = true
			}
		}
	}
}

// common adds what is hidden however common it is.
func (p *pieces) common(text string) {
	add := func(text string) {
		if text = bare(text); telling(text) && text != p.whole && !p.seen["c"+text] && len(p.out) < derivedPieces {
			p.seen["c"+text] = true
			p.out = append(p.out, text)
		}
	}
	for _, m := range userPassword.FindAllStringSubmatch(text, maxForms) {
		add(m[1])
	}
	for _, m := range assignment.FindAllStringSubmatch(text, maxForms) {
		add(m[1])
	}
	if items := strings.Split(text, ","); len(items) > 1 && len(items) <= maxForms && !strings.ContainsAny(text, "{}[]\n") {
		for _, item := range items {
			if item = strings.TrimSpace(item); len(item) >= shortestCased {
				add(item)
			}
		}
	}
	if user, password, pair := strings.Cut(text, ":"); pair && text != p.whole && !strings.ContainsAny(text, " \n") && !strings.ContainsAny(user, "./") {
		add(password) // the auth of a registry
	}
}

// segment is one thing of a line: a pair, an address, a token.
func (p *pieces) segment(text string, depth int) {
	if text = bare(text); !p.spend("s", text) {
		return
	}
	p.value(text, depth)
	for _, separator := range []string{"=", ":"} {
		if _, value, ok := strings.Cut(text, separator); ok {
			p.value(value, depth)
			p.value(text[strings.LastIndex(text, separator)+1:], depth)
		}
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return
	}
	head := text[:at]
	if _, rest, ok := strings.Cut(head, "://"); ok {
		head = rest
	}
	for _, separator := range []string{":", "/"} {
		if _, password, ok := strings.Cut(head, separator); ok {
			p.value(password, depth)
		}
	}
}

// value is what a pair holds, or an item.
func (p *pieces) value(text string, depth int) {
	if text = bare(text); !p.spend("v", text) {
		return
	}
	p.keep(text)
	p.encoded(text, depth)
	if strings.ContainsAny(text, "{[") {
		p.text(text, depth-1)
	} else if depth > 0 {
		p.segment(text, depth-1)
	}
}

// encoded takes apart what a text stands for in base64 or percent-encoded.
func (p *pieces) encoded(text string, depth int) {
	if depth == 0 {
		return
	}
	if decoded, ok := decodedText(text); ok && p.spend("d", text) {
		if text == p.whole {
			p.out = append(p.out, decoded)
		} else {
			p.keep(decoded)
		}
		p.text(decoded, depth-1)
	}
	if strings.ContainsRune(text, '%') {
		if plain, err := url.PathUnescape(text); err == nil && plain != text {
			p.keep(plain)
			p.text(plain, depth-1)
		}
	}
}

// decodedText is a value in base64 as the text it stands for; words that only look like base64 give none.
func decodedText(value string) (string, bool) {
	value = strings.TrimSpace(value)
	if len(value) < shortestCased || strings.ContainsAny(value, " \t") {
		return "", false
	}
	enc := base64.RawStdEncoding
	if strings.ContainsAny(value, "-_") {
		enc = base64.RawURLEncoding
	}
	if strings.Contains(value, "=") {
		enc = enc.WithPadding(base64.StdPadding)
	}
	data, err := enc.DecodeString(value)
	if err != nil || len(data) < shortest || !utf8.Valid(data) {
		return "", false
	}
	odd := func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) }
	if text := string(data); !strings.ContainsFunc(text, odd) {
		return text, true
	}
	return "", false
}

package format

import (
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// keyOf is the length of the key that a text begins with, and where what follows its colon begins; 0 when it is none.
func keyOf(text string) (key, after int) {
	from := len(text) - len(skipProperties(text))
	if from >= len(text) {
		return 0, 0
	}
	if q := text[from]; q == '"' || q == '\'' {
		end, _, ok := span([]string{text}, 0, from)
		if !ok || end != 0 {
			return 0, 0
		}
		_, to, _ := span([]string{text}, 0, from)
		rest := strings.TrimLeft(text[to:], " \t")
		if !colon(rest) {
			return 0, 0
		}
		return to, len(text) - len(rest) + 1
	}
	if strings.IndexByte("{[|>#", text[from]) >= 0 {
		return 0, 0
	}
	for i := from; i < len(text); i++ {
		switch {
		case colon(text[i:]):
			return len(strings.TrimRight(text[:i], " \t")), i + 1
		case comment(text, i):
			return 0, 0
		}
	}
	return 0, 0
}

func colon(text string) bool {
	return strings.HasPrefix(text, ":") && (len(text) == 1 || text[1] == ' ' || text[1] == '\t')
}

// comment reports whether a comment begins at i.
func comment(text string, i int) bool {
	return text[i] == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t')
}

// skipProperties is a text without the anchors and tags it begins with.
func skipProperties(text string) string {
	for text != "" && (text[0] == '&' || text[0] == '!') {
		end := strings.IndexAny(text, " \t")
		if end < 0 {
			return ""
		}
		text = strings.TrimLeft(text[end:], " \t")
	}
	return text
}

// value writes a line's head with the value that follows it, over as many lines as it has. last is the innermost
// collection that the line is in.
func (p *printer) value(head, text string, last level) error {
	body := strings.TrimLeft(text, " \t")
	if body == "" {
		p.write(strings.TrimRight(head, " "), false)
		p.at++
		return nil
	}
	if body[0] == '#' {
		p.write(head+strings.Repeat(" ", max(1, len(text)-len(body)))+strings.TrimRight(body, " \t"), false)
		p.at++
		return nil
	}
	if strings.TrimSpace(head) != "" {
		head = strings.TrimRight(head, " ") + " "
	}
	rest := skipProperties(body)
	head += body[:len(body)-len(rest)]
	switch {
	case rest == "" || rest[0] == '#':
		p.write(strings.TrimRight(head+rest, " \t"), false)
		p.at++
		return nil
	case rest[0] == '|' || rest[0] == '>':
		return p.block(head, rest, last)
	case rest[0] == '"' || rest[0] == '\'' || rest[0] == '{' || rest[0] == '[':
		return p.enclosed(head, rest, last)
	}
	p.plain(head, rest, last)
	return nil
}

var blockHead = lazyregexp.New(`^[|>]([+-]?)([1-9]?)([+-]?)([ \t]+#.*)?[ \t]*$`)

// block writes a literal or folded value.
func (p *printer) block(head, text string, last level) error {
	m := blockHead.FindStringSubmatch(text)
	if m == nil {
		return p.left(indentation)
	}
	p.write(head+strings.TrimRight(text, " \t"), false)
	p.at++
	indent, now := 0, last.now+2
	if m[2] != "" {
		indent, now = max(last.old, 0)+int(m[2][0]-'0'), last.now+int(m[2][0]-'0')
	}
	end := p.at // behind the last line that has text
	for i := p.at; i < len(p.lines); i++ {
		l := p.lines[i]
		spaces := len(l) - len(strings.TrimLeft(l, " "))
		if spaces == len(l) {
			continue
		}
		if indent == 0 && spaces > last.old {
			indent = max(spaces, 1)
		}
		if spaces < indent || indent == 0 || last.old < 0 && marks(l) {
			break
		}
		end = i + 1
	}
	if m[1]+m[3] == "+" {
		for end < len(p.lines) && strings.Trim(p.lines[end], " ") == "" {
			end++
		}
	}
	for ; p.at < end; p.at++ {
		l := p.lines[p.at]
		if strings.Trim(l, " ") == "" && (indent == 0 || len(l) <= indent) {
			p.write("", true)
			continue
		}
		p.write(strings.Repeat(" ", now)+l[indent:], true)
	}
	return nil
}

// enclosed writes a value in quotes or brackets.
func (p *printer) enclosed(head, text string, last level) error {
	lines := append([]string{text}, p.lines[p.at+1:]...)
	end, to, ok := span(lines, 0, 0)
	if !ok {
		return p.left(indentation)
	}
	tail := strings.TrimRight(lines[end][to:], " \t")
	if rest := strings.TrimLeft(tail, " \t"); rest != "" && (rest[0] != '#' || len(rest) == len(tail)) {
		return p.left(indentation)
	}
	for i := 0; i <= end; i++ {
		l := lines[i]
		if i == end {
			l = l[:to] + tail
		}
		if i == 0 {
			p.write(head+l, true)
		} else {
			p.write(shifted(l, last), true)
		}
	}
	p.at += end + 1
	return nil
}

// plain writes a value without quotes.
func (p *printer) plain(head, text string, last level) {
	p.write(head+strings.TrimRight(text, " \t"), true)
	p.at++
	for i := range text {
		if comment(text, i) {
			return
		}
	}
	end := p.at
	for i := p.at; i < len(p.lines); i++ {
		l := strings.TrimLeft(p.lines[i], " \t")
		if l == "" {
			continue
		}
		if l[0] == '#' || len(p.lines[i])-len(l) <= last.old || marks(p.lines[i]) {
			break
		}
		end = i + 1
	}
	for ; p.at < end; p.at++ {
		p.write(strings.TrimRight(shifted(p.lines[p.at], last), " \t"), true)
	}
}

// shifted is a further line of a value, moved as far as the collection that the value is in.
func shifted(line string, last level) string {
	text := strings.TrimLeft(line, " \t")
	if text == "" {
		return ""
	}
	old := max(last.old, 0)
	return strings.Repeat(" ", max(last.now, len(line)-len(text)-old+last.now)) + text
}

// span finds the end of what is enclosed in quotes or brackets from a place on: the line, and the column behind it.
func span(lines []string, at, col int) (endLine, endCol int, ok bool) {
	depth, quote, token := 0, byte(0), true // token: a value may begin here
	for ; at < len(lines); at, col, token = at+1, 0, true {
		l := lines[at]
		for i := col; i < len(l); i++ {
			c := l[i]
			switch {
			case quote == '"' && c == '\\':
				i++
				continue
			case quote == '\'' && c == '\'' && i+1 < len(l) && l[i+1] == '\'':
				i++
				continue
			case quote != 0:
				if c != quote {
					continue
				}
				if quote, token = 0, false; depth == 0 {
					return at, i + 1, true
				}
			case token && (c == '"' || c == '\''):
				quote = c
			case comment(l, i):
				i = len(l)
			case c == '{' || c == '[':
				depth, token = depth+1, true
			case c == '}' || c == ']':
				if depth, token = depth-1, false; depth == 0 {
					return at, i + 1, true
				}
			default:
				token = c == ',' || c == ':' || (c == ' ' || c == '\t') && token
			}
		}
	}
	return 0, 0, false
}

package format

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// layoutError says that a document is laid out in a way that this room leaves alone, and where.
type layoutError struct {
	line int
	why  string
}

func (e *layoutError) Error() string { return "it is laid out in a way that is left alone: " + e.why }

// indentation is why for a line whose place means something.
const indentation = "an indentation that means something"

// left is the error for the line that is laid out.
func (p *printer) left(why string) error { return &layoutError{p.at + 1, why} }

// formatYAML lays out YAML: two spaces per level, one after colons and dashes, no blank lines at the ends and one at most
// between lines, no trailing spaces. Line breaks, quotes, comments and flow collections stay as they were written; lists
// stand below their keys as the first of the file does. What it makes is read again: it says the same, or it is not used.
func formatYAML(src []byte) ([]byte, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n")
	if at := strings.IndexAny(text, "\r\u0085\u2028\u2029"); at >= 0 { // line breaks of YAML, and of nobody else
		return nil, &layoutError{1 + strings.Count(text[:at], "\n"), "a line break that only YAML has"}
	}
	before, err := parseYAML([]byte(text))
	if err != nil {
		return nil, err
	}
	p := &printer{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), lists: -1}
	if err := p.print(); err != nil {
		return nil, err
	}
	out := p.result()
	after, err := parseYAML(out)
	if err != nil || len(before) != len(after) {
		return nil, &layoutError{1, indentation}
	}
	for i := range before {
		if line := differs(before[i], after[i]); line > 0 {
			return nil, &layoutError{line, indentation}
		}
	}
	return out, nil
}

func parseYAML(src []byte) ([]*yaml.Node, error) {
	var out []*yaml.Node
	for d := yaml.NewDecoder(bytes.NewReader(src)); ; {
		n := new(yaml.Node)
		switch err := d.Decode(n); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		out = append(out, n)
	}
}

// differs is the line of a where two trees do not say the same in the same style, comments and positions aside; 0 where they do.
func differs(a, b *yaml.Node) int {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor || a.Style != b.Style || len(a.Content) != len(b.Content) {
		return max(a.Line, 1)
	}
	for i := range a.Content {
		if line := differs(a.Content[i], b.Content[i]); line > 0 {
			return line
		}
	}
	return 0
}

// level is a block collection that is open: the column it was written at, and the one it gets.
type level struct {
	old, now int
	list     bool
}

// row is a line of the result; a fixed one is part of a value, blank or not.
type row struct {
	text  string
	fixed bool
}

// printer lays out the lines of one file.
type printer struct {
	lines []string
	at    int
	out   []row
	open  []level
	// lists is how far lists are indented below their keys, -1 until the first is seen.
	lists int
	// comments, and blank lines, wait for the line that they stand before.
	comments []string
}

func (p *printer) print() error {
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		text := strings.TrimLeft(line, " \t")
		switch {
		case text == "" || text[0] == '#':
			p.comments = append(p.comments, strings.TrimRight(line, " \t"))
			p.at++
		case line[0] == '%', marks(line):
			p.flush(p.open, -1, 0)
			p.open = nil
			p.write(strings.TrimRight(line, " \t"), false)
			p.at++
		default:
			if err := p.content(line); err != nil {
				return err
			}
		}
	}
	p.flush(p.open, -1, 0)
	return nil
}

// marks reports whether a line only begins or ends a document.
func marks(line string) bool {
	if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "...") {
		return false
	}
	rest := strings.TrimLeft(line[3:], " \t")
	return rest == "" || rest[0] == '#' && len(rest) < len(line)-3
}

func (p *printer) write(text string, fixed bool) { p.out = append(p.out, row{text, fixed}) }

// flush writes the comments that wait, before a line at column old that gets column now; old is -1 at the end of a
// document. A comment that is deeper than the line belongs to what is open until there.
func (p *printer) flush(open []level, old, now int) {
	for _, c := range p.comments {
		text := strings.TrimLeft(c, " \t")
		col := now
		if at := len(c) - len(text); at > old {
			col = 0
			for _, l := range open {
				if l.old == at {
					col = l.now
				} else if l.old < at {
					col = l.now + 2
				}
			}
		}
		if text == "" {
			col = 0
		}
		p.write(strings.Repeat(" ", col)+text, false)
	}
	p.comments = nil
}

// content lays out one line and what belongs to it.
func (p *printer) content(line string) error {
	first := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case line[first] == '\t':
		return p.left("a tab in the indentation")
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "---\t"): // without the space, as in ----, it is text
		return p.left("content behind ---")
	}
	open := append([]level(nil), p.open...)
	var head strings.Builder
	begin, last := -1, level{old: -1}
	col, done := first, false
	for !done {
		rest := line[col:]
		if rest[0] == '?' && (len(rest) == 1 || rest[1] == ' ') {
			return p.left("a complex key (?)")
		}
		dash := isDash(rest)
		key, end := 0, 0
		if !dash {
			if key, end = keyOf(rest); key == 0 {
				break
			}
		}
		if err := p.enter(col, dash); err != nil {
			return err
		}
		if last = p.open[len(p.open)-1]; begin < 0 {
			begin = last.now
		}
		if dash {
			head.WriteString("-")
			next := strings.TrimLeft(rest[1:], " \t")
			if done = next == "" || next[0] == '#'; done {
				col++
			} else {
				head.WriteString(" ")
				col = len(line) - len(next)
			}
			continue
		}
		head.WriteString(rest[:key] + ":")
		col, done = col+end, true
	}
	if begin < 0 { // a value that has a line to itself
		if begin = 0; first > 0 {
			for _, l := range p.open {
				if l.old < first {
					last, begin = l, l.now+2
				}
			}
		}
	}
	p.flush(open, first, begin)
	return p.value(strings.Repeat(" ", begin)+head.String(), line[col:], last)
}

func isDash(text string) bool {
	return text[0] == '-' && (len(text) == 1 || text[1] == ' ' || text[1] == '\t')
}

// enter opens the list or the mapping that stands at a column, or goes on with it.
func (p *printer) enter(col int, list bool) error {
	top := func() *level {
		if len(p.open) == 0 {
			return nil
		}
		return &p.open[len(p.open)-1]
	}
	for top() != nil && (top().old > col || top().old == col && top().list && !list) {
		p.open = p.open[:len(p.open)-1]
	}
	t := top()
	switch {
	case t == nil:
		p.open = append(p.open, level{col, 0, list})
	case t.old == col && t.list == list:
	case !list && t.old == col:
		return p.left(indentation)
	case list && !t.list:
		if p.lists < 0 {
			p.lists = 2
			if t.old == col {
				p.lists = 0
			}
		}
		p.open = append(p.open, level{col, t.now + p.lists, true})
	default:
		p.open = append(p.open, level{col, t.now + 2, list})
	}
	return nil
}

// result is the text: of blank lines that are no part of a value at most one stands together, and none at the ends.
func (p *printer) result() []byte {
	var b bytes.Buffer
	blank := false
	for _, r := range p.out {
		if r.text == "" && !r.fixed {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte('\n')
		}
		blank = false
		b.WriteString(r.text + "\n")
	}
	return b.Bytes()
}

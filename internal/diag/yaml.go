package diag

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/lazyregexp"
)

// orders is what a line of YAML may not begin with, behind what YAML itself puts there.
var orders = lazyregexp.New(`(?m)^[` + white + `"'?-]*::[A-Za-z][A-Za-z-]*(?:::|[ \t])`)

// YAML is JSON as YAML. Where a line of it would be an order to a CI system, or has what nobody sees, the strings with such
// are quoted, with escapes: what is read of it is what the JSON says. All others are laid out as ever.
func YAML(data []byte) ([]byte, error) {
	shown := func(text string) bool { return escape(text, isOdd, long) == text }
	if shown(string(data)) { // an encoder that reads JSON as YAML takes some for the ends of lines, and refuses others
		out, err := yaml.JSONToYAML(data)
		if err != nil || isQuiet(out) && shown(string(out)) {
			return out, err
		}
	}
	q := quoter{mark: "Quoted", tokens: map[string]string{}}
	for bytes.Contains(data, []byte(q.mark)) {
		q.mark += "Z"
	}
	out, err := yaml.JSONToYAML(q.marked(data))
	if err != nil {
		return nil, err
	}
	token := regexp.MustCompile(q.mark + `([0-9]+)x+`)
	return token.ReplaceAllFunc(out, func(t []byte) []byte {
		n, _ := strconv.Atoi(string(token.FindSubmatch(t)[1]))
		return []byte(q.quoted[n])
	}), nil
}

// isQuiet reports whether no line of some YAML is an order.
func isQuiet(text []byte) bool { return !orders.Match(text) && !commandWord.Match(text) }

// quoter puts words for strings that have to be quoted: an encoder chooses the style of each by itself.
type quoter struct {
	mark   string
	quoted []string          // with escapes
	tokens map[string]string // by what is quoted
}

// marked is valid JSON with such words.
func (q *quoter) marked(data []byte) []byte {
	var out bytes.Buffer
	for i := 0; i < len(data); {
		if data[i] != '"' {
			out.WriteByte(data[i])
			i++
			continue
		}
		end := i + 1
		for end < len(data) && data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(data))
		out.WriteString(q.token(string(data[i:end])))
		i = end
	}
	return out.Bytes()
}

// JSON is v as compact JSON for people's eyes: <, > and & stand as they are.
func JSON(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// token is a string of JSON, or the word for it.
func (q *quoter) token(literal string) string {
	var text string
	if json.Unmarshal([]byte(literal), &text) != nil {
		return literal
	}
	plain, err := JSON(text)
	if err != nil {
		return literal
	}
	quoted := unordered(plain, long)
	if quoted == plain && unordered(text, long) == text {
		return literal
	}
	if escape(text, isOdd, long) == text { // a block keeps its lines; what is quoted breaks at any space
		if block, err := yaml.JSONToYAML([]byte(literal)); err == nil && block[0] == '|' && isQuiet(block) {
			return literal
		}
	}
	if q.tokens[quoted] == "" {
		word := q.mark + strconv.Itoa(len(q.quoted)) + "x"
		if len(quoted) > 100 { // a long key stands on a line of its own
			word += strings.Repeat("x", 128)
		}
		q.tokens[quoted] = `"` + word + `"`
		q.quoted = append(q.quoted, quoted)
	}
	return q.tokens[quoted]
}

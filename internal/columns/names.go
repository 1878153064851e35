package columns

import (
	"strconv"
	"strings"
)

// item is one or several neighbouring names: "eu-1" or the range "eu-1..4".
type item struct {
	text string
	// stem is the text before the number of a range or single name; names how many it stands for.
	stem  string
	names int
}

// Names lists cluster names in their order, compressed with braces and ranges from three names on:
// production-{eu-1..4,us-1..4,ap-1}. The text stands for exactly these names in exactly this order: a range counts
// up by one, a first number with a leading zero pads all of the range, braces never nest. Names that hold one of the
// signs used (braces, comma, "..", spaces) are listed plainly.
func Names(names []string) string {
	if len(names) < 3 || !plainNames(names) {
		return strings.Join(names, ", ")
	}
	items := ranges(names)
	var parts []string
	for i := 0; i < len(items); {
		prefix, n := run(items[i:])
		if n < 2 {
			parts = append(parts, items[i].text)
			i++
			continue
		}
		inner := make([]string, n)
		for k := range n {
			inner[k] = strings.TrimPrefix(items[i+k].text, prefix)
		}
		parts = append(parts, prefix+"{"+strings.Join(inner, ",")+"}")
		i += n
	}
	return strings.Join(parts, ", ")
}

// plainNames reports whether no name holds a sign of the compressed form.
func plainNames(names []string) bool {
	for _, n := range names {
		if n == "" || strings.ContainsAny(n, "{}, \t\n") || strings.Contains(n, "..") {
			return false
		}
	}
	return true
}

// ranges folds neighbours that count up by one into ranges.
func ranges(names []string) []item {
	var items []item
	for i := 0; i < len(names); {
		stem, num := splitNumber(names[i])
		n := 1
		for num != "" && i+n < len(names) && names[i+n] == stem+plus(num, n) {
			n++
		}
		text := names[i]
		if n > 1 {
			text += ".." + plus(num, n-1)
		}
		items = append(items, item{text: text, stem: stem, names: n})
		i += n
	}
	return items
}

// splitNumber parts a name into what stands before its last number and the number; "" when it does not end in one
// (or in one too long to count with).
func splitNumber(name string) (stem, num string) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if len(name)-i > 15 {
		return name, ""
	}
	return name[:i], name[i:]
}

// plus adds n to a decimal number, keeping its width when it has a leading zero.
func plus(num string, n int) string {
	v, err := strconv.ParseInt(num, 10, 64)
	if err != nil {
		return ""
	}
	s := strconv.FormatInt(v+int64(n), 10)
	if num[0] == '0' && len(num) > 1 {
		for len(s) < len(num) {
			s = "0" + s
		}
		if len(s) > len(num) {
			return "" // would no longer be padded alike
		}
	}
	return s
}

// run finds how many of the first items share a prefix that ends in a separator: at least the first segment is
// shared, and the prefix returned is the longest all of them have.
func run(items []item) (prefix string, n int) {
	first := segment(items[0].stem)
	if first == "" {
		return "", 1
	}
	prefix, n = items[0].stem, 1
	for n < len(items) && strings.HasPrefix(items[n].stem, first) {
		prefix = Shared(prefix, items[n].stem)
		n++
	}
	if i := strings.LastIndexAny(prefix, "-._"); i >= 0 {
		prefix = prefix[:i+1]
	}
	return prefix, n
}

// segment is the beginning of a name up to and with its first separator, "" if it has none.
func segment(s string) string {
	return s[:strings.IndexAny(s, "-._")+1]
}

// Shared is the longest common beginning of two texts.
func Shared(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

package bind

import (
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// endsInZero is a decimal number that is written otherwise than it is printed: 1.10 is 1.1.
var endsInZero = lazyregexp.New(`^\d+\.\d*0$`)

// numberThere is what may be such a number at a place of a YAML file, up to what ends it.
var numberThere = lazyregexp.New(`^(\d+\.\d+)(?:[\s,}\]]|$)`)

// unquoted warns of versions and tags that are numbers and lose their last zero: fields whose names end in "tag" or "version". written tells
// how a value is written in its file, "" where that is not known.
func unquoted(x *v1alpha1.Value, at v1alpha1.Path, written func(*v1alpha1.Value) string) diag.Findings {
	if x == nil {
		return nil
	}
	var fs diag.Findings
	rewrite(x, at, func(x *v1alpha1.Value, at v1alpha1.Path) (*v1alpha1.Value, bool) {
		if len(at) == 0 || x.Kind != v1alpha1.KindFloat && x.Kind != v1alpha1.KindInt {
			return nil, false
		}
		name := at[len(at)-1].Name
		lower, text := strings.ToLower(name), written(x)
		if number, err := strconv.ParseFloat(text, 64); err == nil && endsInZero.MatchString(text) && (strings.HasSuffix(lower, "tag") || strings.HasSuffix(lower, "version")) {
			f := diag.Warnf("unquoted-number", "%s is a number, and %s where it becomes a text", text, strconv.FormatFloat(number, 'f', -1, 64))
			f.Pos, f.Path, f.Fix = diag.Pos(x.Pos), at.String(), "quote it: "+name+`: "`+text+`"`
			fs = append(fs, f)
		}
		return x, true
	})
	return fs
}

// asText is how a number of our own documents is written.
func asText(x *v1alpha1.Value) string { return x.Text }

// inFile tells how the numbers of a file are written, by their places in it: a chart's are those that Helm makes of them. Where the characters of a
// line begin is found once: it may have hundreds of thousands of numbers.
func inFile(src []byte) func(*v1alpha1.Value) string {
	lines, begins := strings.Split(string(src), "\n"), map[int][]int{}
	return func(x *v1alpha1.Value) string {
		if x.Pos.Line < 1 || x.Pos.Line > len(lines) {
			return ""
		}
		line := lines[x.Pos.Line-1]
		at, known := begins[x.Pos.Line]
		if !known {
			for i := range line {
				at = append(at, i)
			}
			begins[x.Pos.Line] = at
		}
		if x.Pos.Column < 1 || x.Pos.Column > len(at) {
			return ""
		}
		if found := numberThere.FindStringSubmatch(line[at[x.Pos.Column-1]:]); found != nil {
			return found[1]
		}
		return ""
	}
}

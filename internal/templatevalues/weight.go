package templatevalues

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// MaxMade is the largest text or list one call of a function may make.
const MaxMade = 16 << 20

// TooMuch is the error of a function that would make more.
func TooMuch(fn string) error {
	return fmt.Errorf("%s would make more than %d MiB", fn, MaxMade>>20)
}

var (
	widths  = lazyregexp.New(`[0-9]+`)
	starred = lazyregexp.New(`%[^a-zA-Z%]*\*`)
)

// Formatted is about how many bytes printf may make: its arguments, each time that the format names them by number, and
// the widths.
func Formatted(format string, parts []any) int {
	const widest = 1_000_000 // of package fmt
	sum := len(format) + Weight(parts...)
	if strings.Contains(format, "[") {
		sum += min(Weight(parts...), MaxMade) * strings.Count(format, "%")
	}
	for _, d := range widths.FindAllString(format, -1) {
		n, _ := strconv.Atoi(d)
		sum += min(n, widest)
	}
	return sum + widest*len(starred.FindAllString(format, -1))
}

// Weight is how many bytes a value has when it is written out, at least; counting ends where that is too much. A value of
// a template holds the same text, list or map as often as it likes.
func Weight(values ...any) int {
	sum := 0
	for _, v := range values {
		sum += weightOf(v, MaxMade-sum)
		if sum > MaxMade {
			break
		}
	}
	return sum
}

func weightOf(v any, left int) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case map[string]any:
		sum := 1
		for k, x := range v {
			if sum += len(k) + weightOf(x, left-sum); sum > left {
				break
			}
		}
		return sum
	case []any:
		sum := 1
		for _, x := range v {
			if sum += weightOf(x, left-sum); sum > left {
				break
			}
		}
		return sum
	case []string:
		return len(v) + len(strings.Join(v, ""))
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		return list.Len()
	}
	return 1
}

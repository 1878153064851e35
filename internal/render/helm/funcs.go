package helm

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"

	"hawser.dev/hawser/internal/boundedregexp"
	"hawser.dev/hawser/internal/templatevalues"
)

// Functions whose answer changes with the clock, with chance or with the network. Each is replaced by one that gives the
// kept answer, or a placeholder which is the same every time, and notes that it was asked.
var (
	random = []string{
		"randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes", "randInt", "shuffle", "uuidv4",
		"bcrypt", "htpasswd", "encryptAES", "genPrivateKey", "genCA", "genCAWithKey",
		"genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
	}
	clock = []string{
		"now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "durationRound",
	}
	offline = []string{"lookup", "getHostByName"}

	watchedNames = slices.Concat(random, clock, offline)
)

// functions are all replacements for one render: the watched ones at every site and by their plain names (for texts
// handed to tpl), those that would depend on the machine, and those that could ask for any amount of memory.
func functions(sites []site, a *answers) template.FuncMap {
	orig := sprig.TxtFuncMap()
	out := template.FuncMap{}
	for _, fn := range watchedNames {
		out[fn] = watched(orig, site{fn: fn, name: fn}, a)
	}
	for _, s := range sites {
		out[s.name] = watched(orig, s, a)
	}
	out[tplText] = boundedText
	maps.Copy(out, steady())
	maps.Copy(out, bounded(orig))
	maps.Copy(out, multiplied(orig))
	maps.Copy(out, written(orig))
	maps.Copy(out, regexes(orig))
	maps.Copy(out, templatevalues.Bounding(orig, out))
	return out
}

func watched(orig template.FuncMap, s site, a *answers) any {
	switch s.fn {
	case "lookup":
		return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
			return a.lookup(s, apiVersion, kind, namespace, name), nil
		}
	case "getHostByName":
		return func(string) string {
			a.note(s.name)
			return ""
		}
	case "now":
		return func() time.Time { return a.moment(s) }
	}
	if slices.Contains(clock, s.fn) {
		return onClock(orig, s.fn, func() time.Time { return a.moment(s) })
	}
	return answered(orig[s.fn], s, a)
}

// onClock is a function of sprig's dates with the machine's time and zone taken out: the zone is UTC.
func onClock(orig template.FuncMap, fn string, now func() time.Time) any {
	inZone := orig["dateInZone"].(func(string, any, string) string)
	at := func(format string, date any, zone string) string {
		switch date.(type) {
		case time.Time, *time.Time, int, int32, int64:
		default:
			date = now()
		}
		if zone == "Local" || zone == "" {
			zone = "UTC"
		}
		return inZone(format, date, zone)
	}
	switch fn {
	case "date":
		return func(format string, date any) string { return at(format, date, "UTC") }
	case "htmlDate":
		return func(date any) string { return at("2006-01-02", date, "UTC") }
	case "htmlDateInZone":
		return func(date any, zone string) string { return at("2006-01-02", date, zone) }
	case "ago":
		return func(date any) string {
			at := now()
			since := at
			switch d := date.(type) {
			case time.Time:
				since = d
			case int64:
				since = time.Unix(d, 0)
			case int:
				since = time.Unix(int64(d), 0)
			}
			return at.Sub(since).Round(time.Second).String()
		}
	case "durationRound":
		round := orig[fn].(func(any) string)
		return func(x any) string {
			if t, ok := x.(time.Time); ok {
				// Sprig gives the time since t.
				x = now().Sub(t).String()
			}
			return round(x)
		}
	}
	return at
}

// steady are functions of sprig that depend on the machine's time zone or on the order of a Go map.
func steady() template.FuncMap {
	return template.FuncMap{
		"toDate": func(format, text string) time.Time {
			t, _ := time.ParseInLocation(format, text, time.UTC)
			return t
		},
		"mustToDate": func(format, text string) (time.Time, error) { return time.ParseInLocation(format, text, time.UTC) },
		"keys": func(dicts ...map[string]any) []string {
			out := []string{}
			for _, d := range dicts {
				out = append(out, slices.Sorted(maps.Keys(d))...)
			}
			return out
		},
		"values": func(dict map[string]any) []any {
			out := []any{}
			for _, k := range slices.Sorted(maps.Keys(dict)) {
				out = append(out, dict[k])
			}
			return out
		},
	}
}

// bounded are functions of sprig that make as much as a number says.
func bounded(orig template.FuncMap) template.FuncMap {
	repeat := orig["repeat"].(func(int, string) string)
	until := orig["until"].(func(int) []int)
	untilStep := orig["untilStep"].(func(int, int, int) []int)
	seq := orig["seq"].(func(...int) string)
	indent := orig["indent"].(func(int, string) string)
	nindent := orig["nindent"].(func(int, string) string)
	steps := func(fn string, start, stop, step int) error {
		if step == 0 {
			return nil
		}
		return fits(fn, (stop-start)/step, 8)
	}
	return template.FuncMap{
		"repeat": func(n int, s string) (string, error) {
			if err := fits("repeat", n, len(s)); err != nil {
				return "", err
			}
			return repeat(n, s), nil
		},
		"until": func(n int) ([]int, error) {
			if err := fits("until", n, 8); err != nil {
				return nil, err
			}
			return until(n), nil
		},
		"untilStep": func(start, stop, step int) ([]int, error) {
			if err := steps("untilStep", start, stop, step); err != nil {
				return nil, err
			}
			return untilStep(start, stop, step), nil
		},
		"seq": func(n ...int) (string, error) {
			var err error
			switch len(n) {
			case 1:
				err = steps("seq", 1, n[0], 1)
			case 2:
				err = steps("seq", n[0], n[1], 1)
			case 3:
				err = steps("seq", n[0], n[2], n[1])
			}
			if err != nil {
				return "", err
			}
			return seq(n...), nil
		},
		"indent": func(n int, s string) (string, error) {
			if err := fits("indent", n, 1+strings.Count(s, "\n")); err != nil {
				return "", err
			}
			return indent(n, s), nil
		},
		"nindent": func(n int, s string) (string, error) {
			if err := fits("nindent", n, 1+strings.Count(s, "\n")); err != nil {
				return "", err
			}
			return nindent(n, s), nil
		},
	}
}

// fits is an error where n times of is too much for one call.
func fits(fn string, n, of int) error {
	if n < -templatevalues.MaxMade || n > templatevalues.MaxMade || of > 0 && max(n, -n) > templatevalues.MaxMade/of {
		return templatevalues.TooMuch(fn)
	}
	return nil
}

// multiplied are functions whose answer may be as large as one argument times another, or as all of them.
func multiplied(orig template.FuncMap) template.FuncMap {
	join := orig["join"].(func(string, any) string)
	wrapWith := orig["wrapWith"].(func(int, string, string) string)
	concat := orig["concat"].(func(...any) any)
	return template.FuncMap{
		"replace": func(from, to, s string) (string, error) {
			if err := fits("replace", strings.Count(s, from), max(0, len(to)-len(from))); err != nil {
				return "", err
			}
			return strings.ReplaceAll(s, from, to), nil
		},
		"join": func(sep string, list any) (string, error) {
			if v := reflect.ValueOf(list); v.Kind() == reflect.Slice {
				if err := fits("join", v.Len(), len(sep)); err != nil {
					return "", err
				}
			}
			return join(sep, list), nil
		},
		"wrapWith": func(length int, sep, s string) (string, error) {
			if err := fits("wrapWith", len(s)/max(1, length)+1, len(sep)); err != nil {
				return "", err
			}
			return wrapWith(length, sep, s), nil
		},
		"concat": func(lists ...any) (any, error) {
			n := 0
			for _, l := range lists {
				if v := reflect.ValueOf(l); v.Kind() == reflect.Slice {
					n += v.Len()
				}
			}
			if err := fits("concat", n, 16); err != nil {
				return nil, err
			}
			return concat(lists...), nil
		},
		"print":   joined("print", fmt.Sprint),
		"println": joined("println", fmt.Sprintln),
		"cat":     joined("cat", orig["cat"].(func(...any) string)),
	}
}

// joined is a function that makes one text of many, if they are not too much together.
func joined(fn string, do func(...any) string) func(...any) (string, error) {
	return func(parts ...any) (string, error) {
		if templatevalues.Weight(parts...) > templatevalues.MaxMade {
			return "", templatevalues.TooMuch(fn)
		}
		return do(parts...), nil
	}
}

// regexes are the functions of sprig that take an expression, which may not be of any length, and those of them that put a text in the place
// of each match, which may be everywhere.
func regexes(orig template.FuncMap) template.FuncMap {
	out := template.FuncMap{}
	for _, must := range []bool{false, true} {
		name := func(fn string) string {
			if must {
				return "mustR" + fn[1:]
			}
			return fn
		}
		for _, fn := range []string{name("regexFind"), name("regexMatch")} {
			switch f := orig[fn].(type) {
			case func(string, string) bool, func(string, string) (bool, error):
				out[fn] = ofExpression[bool](fn, f)
			default:
				out[fn] = ofExpression[string](fn, f)
			}
		}
		for _, fn := range []string{name("regexFindAll"), name("regexSplit")} {
			out[fn] = partsOfExpression(fn, orig[fn])
		}
	}
	for _, fn := range []string{"regexReplaceAll", "regexReplaceAllLiteral", "mustRegexReplaceAll", "mustRegexReplaceAllLiteral"} {
		do := func(string, string, string) (string, error) { return "", fmt.Errorf("%s is not known", fn) }
		switch f := orig[fn].(type) {
		case func(string, string, string) string:
			do = func(regex, s, to string) (string, error) { return f(regex, s, to), nil }
		case func(string, string, string) (string, error):
			do = f
		}
		out[fn] = func(regex, s, to string) (string, error) {
			if err := notTooLong(fn, regex); err != nil {
				return "", err
			}
			if len(to) > 0 && (len(s)+1) > templatevalues.MaxMade/len(to) && worst(regex, s, to) > templatevalues.MaxMade {
				return "", templatevalues.TooMuch(fn)
			}
			return do(regex, s, to)
		}
	}
	return out
}

// notTooLong: what takes minutes and gigabytes to compile is a long expression.
func notTooLong(fn, regex string) error {
	if len(regex) > boundedregexp.MaxBytes {
		return fmt.Errorf("%s: the expression has more than %d bytes", fn, boundedregexp.MaxBytes)
	}
	return nil
}

// ofExpression is a function of an expression and a text that refuses an expression which is too long.
func ofExpression[T any](fn string, f any) func(regex, s string) (T, error) {
	return func(regex, s string) (out T, err error) {
		if err := notTooLong(fn, regex); err != nil {
			return out, err
		}
		switch f := f.(type) {
		case func(string, string) T:
			return f(regex, s), nil
		case func(string, string) (T, error):
			return f(regex, s)
		}
		return out, fmt.Errorf("%s is not known", fn)
	}
}

// partsOfExpression is ofExpression for functions that make so many parts.
func partsOfExpression(fn string, f any) func(regex, s string, n int) ([]string, error) {
	return func(regex, s string, n int) ([]string, error) {
		if err := notTooLong(fn, regex); err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case func(string, string, int) []string:
			return f(regex, s, n), nil
		case func(string, string, int) ([]string, error):
			return f(regex, s, n)
		}
		return nil, fmt.Errorf("%s is not known", fn)
	}
}

// worst is how large a text may get: each match gives the replacement, and what a group of it holds wherever that is named.
func worst(regex, s, to string) int {
	r, err := regexp.Compile(regex)
	if err != nil {
		return 0 // the function says so
	}
	most := min(templatevalues.MaxMade/len(to)+1, 1<<20)
	n, matches := len(s), r.FindAllStringIndex(s, most)
	if len(matches) == most {
		return math.MaxInt
	}
	for _, m := range matches {
		n += len(to) + strings.Count(to, "$")*(m[1]-m[0])
	}
	return n
}

package helm

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
)

// Functions no render may depend on: what they give changes with the clock, with chance or with the network. Each is
// replaced by one that gives an answer of the same form which is the same every time, and notes that it was asked.
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

// maxMade is the largest text or list one call of a function may make.
const maxMade = 16 << 20

// answers are what the watched functions give in one render. A site that is in varied, or every one with all, gives
// another answer than usual: what then differs in the output depends on it.
type answers struct {
	all    bool
	varied map[string]bool
	// called are the names of the sites that were asked, in the order of their first call.
	called []string
	count  map[string]int
}

// ask notes the call and gives the number of the variant, 0 or 1, and of the call.
func (a *answers) ask(name string) (variant, call int) {
	if a.count == nil {
		a.count = map[string]int{}
	}
	call = a.count[name]
	if a.count[name]++; call == 0 {
		a.called = append(a.called, name)
	}
	if a.all || a.varied[name] {
		variant = 1
	}
	return variant, call
}

// moments are the two times a clock may show.
var moments = [2]time.Time{
	time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC),
	time.Date(2098, 11, 28, 19, 46, 57, 800_000_000, time.UTC),
}

// functions are all replacements for one render: the watched ones at every site and by their plain names (for texts
// handed to tpl), those that would depend on the machine, and those that could ask for any amount of memory.
func functions(sites []site, a *answers) template.FuncMap {
	orig := sprig.TxtFuncMap()
	out := template.FuncMap{}
	for _, fn := range watchedNames {
		out[fn] = watched(orig, fn, fn, a)
	}
	for _, s := range sites {
		out[s.name] = watched(orig, s.fn, s.name, a)
	}
	maps.Copy(out, steady())
	maps.Copy(out, bounded(orig))
	return out
}

func watched(orig template.FuncMap, fn, name string, a *answers) any {
	switch fn {
	case "lookup":
		return func(_, _, _, _ string) (map[string]any, error) {
			a.ask(name)
			return map[string]any{}, nil
		}
	case "getHostByName":
		return func(string) string {
			a.ask(name)
			return ""
		}
	case "now":
		return func() time.Time {
			v, _ := a.ask(name)
			return moments[v]
		}
	case "randInt":
		return func(low, high int) int {
			v, _ := a.ask(name)
			if v == 1 && high > low {
				return high - 1
			}
			return low
		}
	}
	if slices.Contains(clock, fn) {
		return onClock(orig, fn, func() time.Time {
			v, _ := a.ask(name)
			return moments[v]
		})
	}
	return made(orig[fn], func() string {
		v, n := a.ask(name)
		return strings.Repeat(fmt.Sprintf("%c%s", 'a'+v, letters(n)), 8)
	}, fn)
}

// letters is a number in the letters a to j, so that it is of any alphabet.
func letters(n int) string {
	out := []byte(fmt.Sprint(n))
	for i := range out {
		out[i] += 'a' - '0'
	}
	return string(out)
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
		return func(any) string { return now().Sub(moments[0].AddDate(-1, 0, 0)).String() }
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

// made is a function with the signature of orig whose texts are made of seed: for a count, as many characters.
func made(orig any, seed func() string, fn string) any {
	typ := reflect.TypeOf(orig)
	return reflect.MakeFunc(typ, func(in []reflect.Value) []reflect.Value {
		text := seed()
		switch {
		case strings.HasPrefix(fn, "rand"):
			text = sized(text, int(in[0].Int()), fn)
		case fn == "shuffle":
			text = sized(text, len(in[0].String()), fn)
		case fn == "uuidv4":
			text = fmt.Sprintf("%s-%s-4%s-8%s-%s", text[:8], text[:4], text[:3], text[:3], sized(text, 12, fn))
		}
		out := make([]reflect.Value, typ.NumOut())
		for i := range out {
			out[i] = reflect.New(typ.Out(i)).Elem()
			switch out[i].Kind() {
			case reflect.String:
				out[i].SetString(text)
			case reflect.Struct: // sprig's certificate
				out[i].FieldByName("Cert").SetString("certificate " + text)
				out[i].FieldByName("Key").SetString("key " + text)
			}
		}
		return out
	}).Interface()
}

func sized(text string, n int, fn string) string {
	switch {
	case n <= 0:
		return ""
	case n > maxMade:
		panic(tooMuch(fn))
	case fn == "randNumeric":
		text = strings.Map(func(r rune) rune { return '0' + (r-'a')%10 }, text)
	}
	return strings.Repeat(text, n/len(text)+1)[:n]
}

func tooMuch(fn string) error {
	return fmt.Errorf("%s would make more than %d MiB", fn, maxMade>>20)
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
	within := func(fn string, n, of int) error {
		if n < -maxMade || n > maxMade || of > 0 && max(n, -n) > maxMade/of {
			return tooMuch(fn)
		}
		return nil
	}
	steps := func(fn string, start, stop, step int) error {
		if step == 0 {
			return nil
		}
		return within(fn, (stop-start)/step, 8)
	}
	return template.FuncMap{
		"repeat": func(n int, s string) (string, error) {
			if err := within("repeat", n, len(s)); err != nil {
				return "", err
			}
			return repeat(n, s), nil
		},
		"until": func(n int) ([]int, error) {
			if err := within("until", n, 8); err != nil {
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
			if err := within("indent", n, 1+strings.Count(s, "\n")); err != nil {
				return "", err
			}
			return indent(n, s), nil
		},
		"nindent": func(n int, s string) (string, error) {
			if err := within("nindent", n, 1+strings.Count(s, "\n")); err != nil {
				return "", err
			}
			return nindent(n, s), nil
		},
	}
}

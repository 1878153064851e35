package helm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/templatevalues"
)

// mode says what the watched functions answer in one render.
type mode int

const (
	// usual: what is kept, and placeholders.
	usual mode = iota
	// otherOpen: what is kept, and other placeholders; otherAll: other placeholders for everything. What then differs in
	// the output depends on it.
	otherOpen
	otherAll
	// making: what is kept, and new answers.
	making
)

// maxCalls bounds the answers of one instance.
const maxCalls = 10_000

// answers are what the watched functions give in one render.
type answers struct {
	mode   mode
	book   *chance.Book
	source *chance.Source
	// found are the Secrets that look-ups find: NAMESPACE/NAME -> key -> base64.
	found chance.Entries
	// called are the names of the sites that were asked, in the order of their first call; open those that nothing kept
	// answers, once for each call.
	called, open []string
	// secret tells that something open is more than a time or a number.
	secret bool
	looked []look
	count  map[string]int
	made   int
}

// look is one call of lookup.
type look struct {
	site string
	// secret is NAMESPACE/NAME, "" when anything but one Secret was asked for.
	secret string
}

// note counts a call of a site.
func (a *answers) note(name string) (call int) {
	if a.count == nil {
		a.count = map[string]int{}
	}
	call = a.count[name]
	if a.count[name]++; call == 0 {
		a.called = append(a.called, name)
	}
	return call
}

// ask gives the answer of a call: the kept one, the placeholder of the mode, or a new one by make.
func (a *answers) ask(s site, args string, public bool, placeholder func(variant, call int) string, fresh func(*chance.Source) (string, error)) (string, error) {
	n := a.note(s.name)
	if a.mode == otherAll {
		return placeholder(1, n), nil
	}
	c := chance.Call{Template: s.template, Func: s.fn, Args: args, Line: s.text, Public: public}
	if value, ok := a.book.Find(c); ok {
		return value, nil
	}
	a.open, a.secret = append(a.open, s.name), a.secret || !public
	switch a.mode {
	case otherOpen:
		return placeholder(1, n), nil
	case making:
		if a.made++; a.made > maxCalls {
			return "", fmt.Errorf("the chart makes up more than %d values", maxCalls)
		}
		value, err := fresh(a.source)
		if err != nil {
			return "", err
		}
		c.Value = value
		a.book.Add(c)
		return value, nil
	}
	return placeholder(0, n), nil
}

// moments are the two times that stand in for the real one.
var moments = [2]time.Time{
	time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC),
	time.Date(2098, 11, 28, 19, 46, 57, 800_000_000, time.UTC),
}

// moment is the time of a call.
func (a *answers) moment(s site) time.Time {
	text, err := a.ask(s, "", true, func(v, _ int) string { return moments[v].Format(time.RFC3339Nano) },
		func(src *chance.Source) (string, error) { return src.Now().UTC().Format(time.RFC3339Nano), nil })
	if err != nil {
		panic(err)
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(fmt.Errorf("the kept answer of %s is no time", s.fn))
	}
	return t
}

// lookup finds what was kept of the chart's own Secrets, and nothing else.
func (a *answers) lookup(s site, apiVersion, kind, namespace, name string) map[string]any {
	a.note(s.name)
	l := look{site: s.name}
	if apiVersion == "v1" && kind == "Secret" && name != "" {
		l.secret = namespace + "/" + name
	}
	a.looked = append(a.looked, l)
	held := a.found[l.secret]
	if l.secret == "" || len(held) == 0 {
		return map[string]any{}
	}
	data := make(map[string]any, len(held))
	for k, v := range held {
		data[k] = v
	}
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data,
		"metadata": map[string]any{"name": name, "namespace": namespace}}
}

// answered is a function with the signature of orig that gives answers: a text, a number or a certificate.
func answered(orig any, s site, a *answers) any {
	typ := reflect.TypeOf(orig)
	return reflect.MakeFunc(typ, func(in []reflect.Value) []reflect.Value {
		value, err := "", impossible(s.fn, in)
		if err == nil {
			value, err = a.ask(s, argsOf(in), s.fn == "randInt",
				func(variant, call int) string { return placeholder(s.fn, in, variant, call) },
				func(src *chance.Source) (string, error) { return fresh(s.fn, orig, in, src) })
		}
		out := make([]reflect.Value, typ.NumOut())
		for i := range out {
			out[i] = reflect.New(typ.Out(i)).Elem()
			switch {
			case err != nil:
				if typ.Out(i).Kind() != reflect.Interface {
					continue
				}
				out[i].Set(reflect.ValueOf(&err).Elem())
			case out[i].Kind() == reflect.String:
				out[i].SetString(value)
			case out[i].Kind() == reflect.Int:
				n, _ := strconv.Atoi(value)
				out[i].SetInt(int64(n))
			case out[i].Kind() == reflect.Struct: // sprig's certificate
				var p chance.Pair
				_ = json.Unmarshal([]byte(value), &p)
				out[i].FieldByName("Cert").SetString(p.Cert)
				out[i].FieldByName("Key").SetString(p.Key)
			}
		}
		if err != nil && typ.Out(typ.NumOut()-1).Kind() != reflect.Interface {
			panic(err) // the template engine makes an error of it
		}
		return out
	}).Interface()
}

// impossible says why a call can have no answer.
func impossible(fn string, in []reflect.Value) error {
	if fn == "randInt" {
		if low, high := in[0].Int(), in[1].Int(); high <= low || high-low < 0 {
			return fmt.Errorf("randInt: there is no number from %d to below %d", low, high)
		}
	}
	return nil
}

func argsOf(in []reflect.Value) string {
	if len(in) == 0 {
		return ""
	}
	parts := make([]string, len(in))
	for i, v := range in {
		data, err := json.Marshal(v.Interface())
		if err != nil {
			data = []byte(fmt.Sprint(v.Interface()))
		}
		parts[i] = string(data)
	}
	return chance.DigestOf(parts...)
}

// The alphabets of sprig's random texts.
const (
	digits = "0123456789"
	alpha  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	ascii  = " !\"#$%&'()*+,-./" + digits + ":;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
)

var alphabets = map[string]string{"randAlphaNum": alpha + digits, "randAlpha": alpha, "randNumeric": digits, "randAscii": ascii}

// fresh makes a new answer. Keys, certificates and hashes are made by the library's functions, which take their
// randomness from the system.
func fresh(fn string, orig any, in []reflect.Value, src *chance.Source) (string, error) {
	if alphabet, ok := alphabets[fn]; ok {
		n := int(in[0].Int())
		if n > templatevalues.MaxMade {
			return "", templatevalues.TooMuch(fn)
		}
		return src.Text(n, alphabet), nil
	}
	switch fn {
	case "randBytes":
		n := int(in[0].Int())
		if n < 0 || n > templatevalues.MaxMade {
			return "", templatevalues.TooMuch(fn)
		}
		b := make([]byte, n)
		src.Read(b)
		return base64.StdEncoding.EncodeToString(b), nil
	case "randInt":
		low, high := int(in[0].Int()), int(in[1].Int())
		return strconv.Itoa(low + src.Below(high-low)), nil
	case "shuffle":
		text := []rune(in[0].String())
		for i := len(text) - 1; i > 0; i-- {
			j := src.Below(i + 1)
			text[i], text[j] = text[j], text[i]
		}
		return string(text), nil
	case "uuidv4":
		return src.UUID(), nil
	}
	return called(orig, in)
}

// called is the answer of the library's own function.
func called(orig any, in []reflect.Value) (string, error) {
	out := reflect.ValueOf(orig).Call(in)
	if last := out[len(out)-1]; last.Kind() == reflect.Interface && !last.IsNil() {
		err, _ := last.Interface().(error)
		return "", err
	}
	if out[0].Kind() == reflect.String {
		return out[0].String(), nil
	}
	data, err := json.Marshal(chance.Pair{Cert: out[0].FieldByName("Cert").String(), Key: out[0].FieldByName("Key").String()})
	return string(data), err
}

// placeholder stands in for an answer: of its form, and the same every time.
func placeholder(fn string, in []reflect.Value, variant, call int) string {
	text := [2]string{"generated", "otherwise"}[variant] + letters(call)
	switch {
	case fn == "randInt":
		low, high := in[0].Int(), in[1].Int()
		if variant == 1 && high > low {
			return strconv.FormatInt(high-1, 10)
		}
		return strconv.FormatInt(low, 10)
	case fn == "randBytes":
		return base64.StdEncoding.EncodeToString([]byte(sized(text, int(in[0].Int()), fn)))
	case strings.HasPrefix(fn, "rand"):
		return sized(text, int(in[0].Int()), fn)
	case fn == "shuffle":
		return sized(text, len(in[0].String()), fn)
	case fn == "uuidv4":
		return fmt.Sprintf("00000000-0000-4000-8000-%d%011d", variant, call)
	case fn == "htpasswd": // charts cut it at the colon
		return in[0].String() + ":" + strings.Repeat(text, 3)
	case fn == "encryptAES": // charts may decrypt it again
		return sealed(in[0].String(), in[1].String(), text)
	case fn == "genPrivateKey":
		return sample(variant, call).Key
	case strings.HasPrefix(fn, "gen"):
		data, _ := json.Marshal(sample(variant, call)) // texts alone
		return string(data)
	}
	return strings.Repeat(text, 3)
}

// letters is a number in the letters a to j, so that it is of any alphabet.
func letters(n int) string {
	out := []byte(strconv.Itoa(n))
	for i := range out {
		out[i] += 'a' - '0'
	}
	return string(out)
}

func sized(text string, n int, fn string) string {
	switch {
	case n <= 0:
		return ""
	case n > templatevalues.MaxMade:
		panic(templatevalues.TooMuch(fn))
	case fn == "randNumeric":
		text = strings.Map(func(r rune) rune { return '0' + (r-'a')%10 }, text)
	}
	return strings.Repeat(text, n/len(text)+1)[:n]
}

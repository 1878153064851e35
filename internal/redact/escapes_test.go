package redact

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// spelt are the ways in which languages and libraries write a text between quotes.
func spelt(text string) map[string]string {
	each := func(format string, bytes bool) string {
		var b strings.Builder
		for _, r := range text {
			if bytes {
				for _, c := range []byte(string(r)) {
					fmt.Fprintf(&b, format, c)
				}
				continue
			}
			fmt.Fprintf(&b, format, r)
		}
		return b.String()
	}
	pairs := ""
	for _, unit := range utf16.Encode([]rune(text)) {
		pairs += fmt.Sprintf(`\u%04X`, unit)
	}
	parsed := ""
	if _, err := time.Parse("2006-01-02", text); err != nil {
		parsed = err.Error()
	}
	marshalled, _ := json.Marshal(text)
	return map[string]string{"%q": inner(fmt.Sprintf("%q", text)), "%+q": inner(fmt.Sprintf("%+q", text)), "JSON": quoteInner(text), "JSON with HTML escapes": inner(string(marshalled)),
		"Graphic": inner(strconv.QuoteToGraphic(text)), `\xXX`: each(`\x%02x`, true), `\OOO`: each(`\%03o`, true), `\UXXXXXXXX`: each(`\U%08x`, false), `\u{X}`: each(`\u{%x}`, false), `\x{X}`: each(`\x{%06X}`, false),
		"JSON in ASCII": pairs, "%XX": each("%%%02X", true), "time.Parse": parsed, "HTML": html.EscapeString(text), "query": url.QueryEscape(text)}
}

// speltHidden: however a secret is spelt, nothing of it is left.
func speltHidden(t *testing.T, secret string) {
	t.Helper()
	r := New(secret)
	for how, said := range spelt(secret) {
		if said == "" {
			continue
		}
		want := strings.ReplaceAll(said, spelling(how, secret, said), Mask)
		if got := r.Redact("x " + said + " y"); got != "x "+want+" y" {
			t.Errorf("%q by %s: %s shows %s, want %s", secret, how, said, got, want)
		}
	}
}

// spelling is the part of a saying that is the secret.
func spelling(how, secret, said string) string {
	if how != "time.Parse" {
		return said
	}
	quoted := said[strings.Index(said, `"`)+1:]
	return quoted[:strings.Index(quoted, `" as `)]
}

func TestSpellings(t *testing.T) {
	for _, secret := range []string{"Zq7cänaryÄbx9", "Zq7c\U0001F600nary\U0001F511bx9", "Zq7c\u00a0nary\u200bbx9", `Zq7c"ä\nary'bx9`, "Zq7cä\\x41narybx9", "Zq7cä\t%nary$$b&x9", "пароль-Zq7-ключ", "Zq7cä\\u00e4\\303nary9"} {
		speltHidden(t, secret)
	}
}

func FuzzSpellings(f *testing.F) {
	f.Add("cänaryÄb")
	f.Add("c\U0001F600n\\U\\u12\\777\"'\n%4$$&amp;")
	f.Fuzz(func(t *testing.T, middle string) {
		secret := "Zq7x4" + middle + "Kd8w2"
		if len(secret) > 200 || !utf8.ValidString(secret) || strings.ContainsAny(secret, "\x00*") || strings.ContainsRune(secret, utf8.RuneError) {
			return
		}
		for how, said := range spelt(secret) {
			got := New(secret).Redact("x " + said + " y")
			if how != "time.Parse" && got != "x "+Mask+" y" || said != "" && strings.Contains(got, "Zq7x4") {
				t.Errorf("%q by %s: %s shows %s", secret, how, said, got)
			}
		}
	})
}

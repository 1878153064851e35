package redact

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testseed"
)

// numberForms are the forms in which a number is promised to be found (docs/secrets.md), but for a whole number's.
func numberForms(secret string, f float64) []string {
	forms := []string{secret, strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'e', -1, 64), strconv.FormatFloat(f, 'E', -1, 64), strconv.FormatFloat(f, 'g', -1, 64), fmt.Sprint(f)}
	if plain := strconv.FormatFloat(f, 'f', -1, 64); strings.Contains(plain, ".") {
		forms = append(forms, plain+"0", plain+"00")
	} else {
		forms = append(forms, plain+".0", plain+".00")
	}
	whole, rest, _ := strings.Cut(strconv.FormatFloat(math.Abs(f), 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	sign := ""
	if f < 0 {
		sign = "-"
	}
	forms = append(forms, sign+whole+rest)
	if digitsIn(secret) >= fewestDigits {
		for _, suffix := range []string{"m", "k", "M", "Mi", "Gi"} {
			forms = append(forms, strconv.FormatFloat(f, 'f', -1, 64)+suffix)
		}
	}
	return forms
}

// wholeForms are those of a whole number.
func wholeForms(n int64) []string {
	sign, u := "", uint64(n)
	if n < 0 {
		sign, u = "-", uint64(-n)
	}
	forms := []string{fmt.Sprintf("%s%#x", sign, u), fmt.Sprintf("%s0X%X", sign, u), fmt.Sprintf("%s0o%o", sign, u), fmt.Sprintf("%s0b%b", sign, u)}
	for _, format := range []string{"%x", "%X", "%o", "%b"} { // without a sign, where it is long enough
		if digits := fmt.Sprintf(format, u); u >= smallestBased && u <= 1<<53 && len(digits) >= shortestBased && strings.ContainsAny(digits, "0123456789") {
			forms = append(forms, digits)
		}
	}
	for suffix, power := range twoPowers {
		if u != 0 && u%(1<<power) == 0 {
			forms = append(forms, fmt.Sprint(sign, u>>power, suffix))
		}
	}
	for suffix, factor := range map[string]uint64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if u != 0 && u%factor == 0 {
			forms = append(forms, fmt.Sprint(sign, u/factor, suffix))
		}
	}
	if u < 1e12 {
		forms = append(forms, fmt.Sprint(sign, u*1000, "m"))
	}
	return forms
}

// TestNumbersOfAnyKind: whatever whole or decimal number is a secret, it is hidden in every form that is promised, wherever a number stands in what
// belongs to its instance; other numbers are not.
func TestNumbersOfAnyKind(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testseed.From(t), 2))
	around := []string{"%s", "is %s here", `{"a": %s}`, `{"a": "%s"}`, "[%s]", "a=%s;b", "a: %s\nb", "(%s)", "--size=%s", "it is %s."}
	for range 500 {
		var secret string
		var forms []string
		switch digits := 1 + rnd.IntN(18); rnd.IntN(4) {
		case 0: // a decimal
			secret = strconv.FormatFloat(float64(rnd.Int64N(int64(math.Pow10(min(digits, 12)))))/math.Pow10(1+rnd.IntN(4)), 'f', -1, 64)
		case 1: // a round number
			secret = fmt.Sprint((1 + rnd.Int64N(9999)) * []int64{1, 1000, 1e6, 1024, 1 << 20, 1 << 30}[rnd.IntN(6)])
		default:
			secret = fmt.Sprint(rnd.Int64N(int64(math.Pow10(digits))))
		}
		if rnd.IntN(5) == 0 && strings.Trim(secret, "0.") != "" {
			secret = "-" + secret
		}
		f, err := strconv.ParseFloat(secret, 64)
		if err != nil {
			t.Fatal(err)
		}
		forms = numberForms(secret, f)
		if n, err := strconv.ParseInt(secret, 10, 64); err == nil {
			forms = append(forms, wholeForms(n)...)
		}
		r := New()
		r.AddFor("web", secret)
		for _, form := range forms {
			for _, place := range around {
				got := r.Value("web", fmt.Sprintf(place, form))
				if harmless(secret) {
					continue
				}
				if !strings.Contains(got, Mask) || strings.ContainsAny(got, "0123456789") {
					t.Errorf("%s as %s in %s: %s", secret, form, place, got)
				}
			}
		}
		if math.Abs(f) > 1<<50 {
			continue // where a language rounds, others are the same number
		}
		other := strconv.FormatFloat(math.Abs(f)+1+rnd.Float64()*10, 'f', 3, 64)
		digits := strings.TrimLeft(secret, "-")
		if len(digits) > shortestEncoded { // digits may be base64, of which the last one belongs to what comes next
			digits = digits[:len(digits)-1]
		}
		if got := r.Value("web", "is "+other+" here"); strings.Contains(got, Mask) && !strings.Contains(other, digits) {
			t.Errorf("%s hides %s: %s", secret, other, got)
		}
	}
}

// TestNumbersWithoutTheirBase: digits of another base are found as a whole, where there are enough of them.
func TestNumbersWithoutTheirBase(t *testing.T) {
	r := New()
	r.AddFor("web", "4815162")
	r.AddFor("web", "8080")
	for text, want := range map[string]string{"49793a": Mask, "49793A": Mask, "a: 22274472": "a: " + Mask, "10010010111100100111010": Mask, "1111110010000": Mask,
		"1f90": "1f90", "17620": "17620", "x49793a": "x49793a", "49793ab": "49793ab"} {
		if got := r.Value("web", text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if got := r.Value("other", text); got != text {
			t.Errorf("%s in another: %s", text, got)
		}
	}
}

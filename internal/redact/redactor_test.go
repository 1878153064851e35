package redact

import (
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestRedact(t *testing.T) {
	pem := "-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\n}\n-----END KEY-----\n"
	for _, c := range []struct{ reason, secret, text, want string }{
		{"as it is", "hunter2", `conflicting values int and "hunter2"`, `conflicting values int and "***"`},
		{"inside a word, because it is long enough", "hunter2", "xhunter2x", "x***x"},
		{"short values only as whole tokens", "80", "port 80, not 8080 or a80", "port ***, not 8080 or a80"},
		{"short values beside punctuation", "ab", `["ab"] ab_c é ab`, `["***"] ab_c é ***`},
		{"short value after a letter with several bytes", "ab", "éab", "éab"},
		{"lines of several", pem, "saw MIIEowIBAAKCAQEA there", "saw *** there"},
		{"short lines stay", pem, "f() { return }", "f() { return }"},
		{"with and without the final newline", "s3cret\n", "s3cret", "***"},
		{"JSON quoting", "a\"b\\c\nd", `{"x":"a\"b\\c\nd"}`, `{"x":"***"}`},
		{"HTML characters in JSON", "a<b>&c", `"a<b>&c"`, `"***"`},
		{"query escape", "p@ss w/rd", "?p=p%40ss+w%2Frd", "?p=***"},
		{"path escape", "p@ss w/rd", "p@ss%20w%2Frd", "***"},
		{"base64", "hunter2", base64.StdEncoding.EncodeToString([]byte("hunter2")), "***"},
		{"raw url base64", "hunter2??>", base64.RawURLEncoding.EncodeToString([]byte("hunter2??>")), "***"},
		{"hex", "hunter2", "68756e74657232", "***"},
		{"hex byte by byte", "hunter2", "is 68 75 6e 74 65 72 32.", "is ***."},
		{"hex byte by byte in capitals", "hunter2?", "is 68 75 6E 74 65 72 32 3F.", "is ***."},
		{"hex byte by byte with 0x", "hunter2", "is 0x68 0x75 0x6e 0x74 0x65 0x72 0x32.", "is ***."},
		{"hex byte by byte with 0X", "hunter2?", "is 0X68 0X75 0X6E 0X74 0X65 0X72 0X32 0X3F.", "is ***."},
		{"hex with 0x", "hunter2", "is 0x68756e74657232.", "is ***."},
		{"hex of a short one", "v7q", "is 76 37 71 and 0x76 0x37 0x71, not a76 37 71", "is *** and ***, not a76 37 71"},
		{"base64 inside that of a longer text", "hunter2-long", base64.StdEncoding.EncodeToString([]byte("user:hunter2-long@host")), Mask},
		{"and at another place", "hunter2-long", base64.StdEncoding.EncodeToString([]byte("u:hunter2-long")), Mask},
		{"base64 twice", "hunter2", base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("hunter2")))), "***"},
		{"hex in capitals", "hunter2?", strings.ToUpper("68756e746572323f"), "***"},
		{"base32", "hunter2", base32.StdEncoding.EncodeToString([]byte("hunter2")), "***===="},
		{"base32 in small letters", "hunter2", strings.ToLower(base32.StdEncoding.EncodeToString([]byte("hunter2"))), "***===="},
		{"small percent escapes", "p@ss w/rd", "p%40ss+w%2frd", "***"},
		{"JSON in JSON", "a\"b\nc", `{"x":"{\"y\":\"a\\\"b\\nc\"}"}`, `{"x":"{\"y\":\"***\"}"}`},
		{"JSON with HTML escapes", "a<b>&c", `"a\u003cb\u003e\u0026c"`, `"***"`},
		{"HTML", "a<b>&c", `a&lt;b&gt;&amp;c`, `***`},
		{"YAML's single quotes", "it's me", "'it''s me'", "'***'"},
		{"capitals", "hunter2-long", "HUNTER2-LONG", "***"},
		{"small letters", "Hunter2-Long", "hunter2-long", "***"},
		{"folded over lines", "correct horse battery staple", "x: correct horse\n    battery staple", "x: ***"},
		{"folded in quotes", "correct horse battery staple", `"correct horse\nbattery staple"`, `"***"`},
		{"short numbers only as whole tokens", "5432", "port 5432, not 15432 or 2026-5432x", "port ***, not 15432 or 2026-5432x"},
		{"long numbers anywhere", "123456789", "x123456789y", "x***y"},
		{"a field of a JSON document", `{"user": "admin", "password": "hunter2"}`, "admin hunter2", "admin ***"},
		{"a field of a YAML document", "db:\n  user: admin\n  keys: [hunter2, a]\n", "admin hunter2 a", "admin *** a"},
		{"the password of a URL", "postgres://app:hunter2@db:5432/app", "PGPASSWORD=hunter2 at db", "PGPASSWORD=*** at db"},
		{"booleans hide nothing", "true", "optional: true", "optional: true"},
		{"empty", "", "abc", "abc"},
		{"white space", "  \n", "a  b", "a  b"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if got := New(c.secret).Value("web", c.text); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestRedactOverlapping(t *testing.T) {
	r := New("pass", "password", "password-long")
	if got := r.Value("", "password-long password pass"); got != "*** *** ***" {
		t.Error(got)
	}
}

// covered are the bytes of a text that are hidden.
func covered(r *Redactor, p purpose, text string) []bool {
	out := make([]bool, len(text))
	for _, s := range r.finder(p, "web").spans(text) {
		for i := s.from; i < s.to; i++ {
			out[i] = true
		}
	}
	return out
}

// unionHolds: what several secrets hide is what each of them hides, no more and no less. Whoever adds one neither shows
// anything of another one, nor learns from what is hidden whether he has guessed it, or a part of it.
func unionHolds(t interface{ Errorf(string, ...any) }, one, two, text string) {
	for _, p := range []purpose{sweeping, redacting, saying, valuing} {
		a, b, both := covered(New(one), p, text), covered(New(two), p, text), covered(New(one, two), p, text)
		for i := range both {
			if both[i] != (a[i] || b[i]) {
				t.Errorf("%q and %q in %q (%c): byte %d is hidden %t, by each of them %t and %t", one, two, text, p, i, both[i], a[i], b[i])
				return
			}
		}
	}
}

func TestRedactUnion(t *testing.T) {
	for _, c := range []struct{ one, two, text, want string }{
		{"abc123xyz9", "xyz9def456", "<abc123xyz9def456>", "<***>"},
		{"abc123xyz9", "c123xyz9de", "<abc123xyz9def>", "<***f>"},
		{"abc123xyz9", "123xyz", "<abc123xyz9>", "<***>"},
		{"abc123xyz9", "def456uvw8", "<abc123xyz9def456uvw8>", "<***>"},
		{"one two three four5x", "four5x six", "one\n two three four5x six", "***"},
	} {
		if got := New(c.one, c.two).Value("", c.text); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.one, c.two, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab1\-\n ]{1,12}`)
		one, two := word.Draw(t, "one"), word.Draw(t, "two")
		text := rapid.SliceOfN(rapid.OneOf(rapid.Just(one), rapid.Just(two), word), 1, 5).Draw(t, "text")
		unionHolds(t, one, two, strings.Join(text, ""))
	})
}

// TestNoOracle: a guess that is the secret of somebody else, a part of it, or one of a long list of guesses, changes nothing
// in what is printed.
func TestNoOracle(t *testing.T) {
	const value = "kX93-pass-4711"
	for _, p := range []purpose{sweeping, redacting, saying, valuing} {
		text := "the password kX93-pass-4711 of pin 4711 is wrong"
		r := &Redactor{}
		r.AddFor("web", value)
		r.AddFor("web", "4711")
		want := r.mask(p, "web", text)
		for from := range value {
			for to := from + 1; to <= len(value); to++ {
				guess := value[from:to]
				if strings.Contains(strings.ReplaceAll(text, value, ""), guess) {
					continue // stands there in the open
				}
				g := &Redactor{}
				g.AddFor("web", value)
				g.AddFor("web", "4711")
				g.AddFor("mine", guess)
				if got := g.mask(p, "web", text); got != want {
					t.Errorf("the guess %s changes %s into %s", guess, want, got)
				}
			}
		}
		var pins []string
		for i := range 10000 {
			pins = append(pins, fmt.Sprintf("%04d", i))
		}
		r.AddFor("mine", strings.Join(pins, ","))
		if got := r.mask(p, "web", text); got != want {
			t.Errorf("a list of all guesses changes %s into %s", want, got)
		}
	}
}

func FuzzRedactUnion(f *testing.F) {
	f.Add("hunter2-long", "long-tail77", "x hunter2-long-tail77 y")
	f.Add("1e3", "1000,1001", "is 1000.0 and 1001")
	f.Add("a b c1d2e3f", "c1d2e3f\ng", "a  b\\nc1d2e3f g")
	f.Fuzz(func(t *testing.T, one, two, text string) {
		if len(one)+len(two)+len(text) < 4<<10 {
			unionHolds(t, one, two, text+one+two+text)
		}
	})
}

func TestRedactZeroAndNil(t *testing.T) {
	var zero Redactor
	var none *Redactor
	if zero.Redact("x") != "x" || none.Redact("x") != "x" || none.Knows() || zero.Knows() {
		t.Error("the zero and the nil redactor must leave text alone")
	}
}

func TestRedactConcurrently(t *testing.T) {
	var r Redactor
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			v := strings.Repeat(string(rune('a'+i)), 8)
			r.Add(v)
			if got := r.Value("", "<"+v+">"); got != "<"+Mask+">" {
				t.Errorf("%s: %s", v, got)
			}
		})
	}
	wg.Wait()
}

func FuzzRedact(f *testing.F) {
	f.Add("hunter2", "x %s y")
	f.Add("ab", "(%s)")
	f.Fuzz(func(t *testing.T, secret, text string) {
		r := New(secret)
		if len(strings.TrimSpace(secret)) < shortest || strings.Contains(Mask, secret) {
			r.Value("", text)
			return
		}
		for _, form := range []string{secret, url.QueryEscape(secret)} {
			if got := r.Value("", " "+form+" "); strings.Contains(got, form) && !harmless(secret) {
				t.Errorf("%q shows %q", got, form)
			}
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := &Redactor{}
	for i := range 100 {
		r.Add(strings.Repeat("s", 10) + strings.Repeat("x", i))
	}
	text := strings.Repeat("nothing of interest here. ", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}

func BenchmarkRebuild(b *testing.B) {
	r := &Redactor{}
	for i := range 1000 {
		r.Add(fmt.Sprintf("a-value-of-some-length-%d", i))
	}
	for b.Loop() {
		r.built = nil
		r.Redact("x")
	}
}

// A large value of many lines is masked, and in good time.
func TestRedactLarge(t *testing.T) {
	lines := 20000
	if testing.Short() { // the race detector takes its time, and nothing happens at once in it
		lines = 1000
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d of a large secret\n", i)
	}
	r := New(b.String())
	for _, text := range []string{b.String(), "line 7 of a large secret", fmt.Sprintf("line %d of a large secret", lines-1)} {
		if got := strings.TrimSpace(r.Value("", text)); got != Mask {
			t.Errorf("%.60q became %.60q", text, got)
		}
	}
}

package boundedregexp

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestCompile: what is too long, or repeats too much, is an error at once, however it does; the rest means what it means to package regexp.
func TestCompile(t *testing.T) {
	start := time.Now()
	for name, text := range map[string]string{
		"class":               "[" + strings.Repeat(`\pL`, 300_000) + "]",
		"stars":               strings.Repeat("a*", 500_000),
		"literal":             strings.Repeat("a", 1<<20),
		"repetitions":         strings.Repeat(".{1000}", 500),
		"nested":              `(((a{10}){10}){10}){11}`,
		"optional":            `(?:[a-z]{0,100}\.){0,100}`,
		"at least":            strings.Repeat("(?:abcde){900,}", 3),
		"refused by a parser": "(",
	} {
		if _, err := Compile(text); err == nil || len(err.Error()) > 200 {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	for _, text := range []string{"", `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`, `^.{1,1000}$`, `(?i)k`, strings.Repeat("a|", 2000), `(\d{1,3}\.){3}\d{1,3}(/\d+)?`} {
		re, err := Compile(text)
		if err != nil {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		for _, in := range []string{"", "a", "web-1.example.com", "10.0.0.1/8", "K"} {
			if want := regexp.MustCompile(text).MatchString(in); re.MatchString(in) != want {
				t.Errorf("%.40q matches %q: %t", text, in, !want)
			}
		}
	}
}

// TestSet: however many expressions one input has, and whatever they are held against, it takes a bounded time and memory; what is compiled is so once.
func TestSet(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for name, ask := range map[string]func(s *Set, i int) error{
		"patterns": func(s *Set, i int) error { return s.Check(fmt.Sprintf(".{1000}.{1000}%d", i)) },
		"classes":  func(s *Set, i int) error { return s.Check(fmt.Sprintf("[%s]%d", strings.Repeat(`\pL`, 1300), i)) },
		"matches":  func(s *Set, _ int) error { _, err := s.MatchString(`(.{100}b|.{99}c)+`, long[:100_000]); return err },
		"values":   func(s *Set, i int) error { _, err := s.MatchString(`(.{1000}b|.{999}c)+`, long[:1000+i%9]); return err },
	} {
		t.Run(name, func(t *testing.T) {
			s := Set{work: maxWork / 10 * 9} // the rest takes a tenth of the time
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start, n := time.Now(), 0
			for ; !errors.Is(ask(&s, n), ErrSpent); n++ {
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			t.Logf("%d in %s, %d MiB kept", n, time.Since(start), (after.HeapAlloc-before.HeapAlloc)>>20)
			if took := time.Since(start); n < 1 || took > 20*time.Second || after.HeapAlloc > before.HeapAlloc+100<<20 {
				t.Errorf("%d in %s", n, took)
			}
			runtime.KeepAlive(&s)
		})
	}
	var s Set
	for i := range 100_000 { // ordinary ones are never too many
		if ok, err := s.MatchString(`^[a-z0-9]+$`, "web"); !ok || err != nil {
			t.Fatal(i, ok, err)
		}
	}
	if len(s.known) != 1 {
		t.Errorf("%d expressions are kept of one", len(s.known))
	}
}

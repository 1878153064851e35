package redact

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

// wrap writes a text in lines of a width, each behind the first begun with indent.
func wrap(text string, width int, indent string) string {
	var lines []string
	for len(text) > width {
		lines = append(lines, text[:width])
		text = text[width:]
	}
	return strings.Join(append(lines, text), indent)
}

// TestWrappedBase64: a secret is hidden in base64 that is written in lines, however they are parted, as far as the base64 goes.
func TestWrappedBase64(t *testing.T) {
	for _, secret := range []string{"Zq7canaryAbx9Kd", `Zq7c<&"an\aryAb+x9/Kd %4`, "Zq7cänaryAbx9Kd", strings.Repeat("Zq7canaryAbx9Kd/", 40)} {
		r := New(secret)
		for name, how := range map[string]string{"plain": "", "JSON": "j", "base64": "b", "address": "a", "JSON in base64": "jb"} {
			whole := nest(secret, how+"b")
			for _, width := range []int{76, 64, 20, 8} {
				for _, indent := range []string{"\n", "\r\n", "\n    ", "\\\n  "} {
					text := wrap(whole, width, indent)
					got := r.Redact("key: |\n    " + text + "\nother: x\n")
					if !strings.HasPrefix(got, "key: |\n    ") || !strings.HasSuffix(got, "other: x\n") && strings.HasSuffix(whole, "=") || overlaps(got, text, indent, name == "plain" || name == "address") {
						t.Errorf("%q as %s, %d, %q: %s becomes %s", secret, name, width, indent, text, got)
					}
				}
			}
		}
	}
}

// overlaps reports whether a line of base64 is shown of which most is left over; of a short text its first and last may be others'.
func overlaps(shown, text, indent string, some bool) bool {
	lines := strings.Split(text, indent)
	if some && len(lines) > 2 {
		lines = lines[2 : len(lines)-1]
	}
	for _, line := range lines {
		if len(line) >= 8 && strings.Contains(shown, line) {
			return true
		}
	}
	return false
}

// TestGluedBase64: whatever base64's own characters are written before and behind it.
func TestGluedBase64(t *testing.T) {
	for _, secret := range []string{"Zq7canaryAbx9Kd", `Zq7c<&"an\aryAb+x9/Kd %4`, "hunter2-x9"} {
		r := New(secret)
		for _, how := range []string{"b", "r", "jb", "jr", "ab", "jbb", "hjr"} {
			whole := nest(secret, how)
			for _, before := range []string{"", "a", "tok_", "sha256-", "id/", "abc+", "xx", "nop"} {
				for _, behind := range []string{"", "z", "_end", "-1234", "/path"} {
					text := before + whole + behind
					got := r.Redact("key: " + text + " other: x")
					core := strings.TrimRight(whole, "=")
					if !strings.HasPrefix(got, "key: ") || !strings.HasSuffix(got, " other: x") || strings.Contains(got, core) || how != "b" && how != "r" && strings.Contains(got, core[len(core)/4:len(core)*3/4]) {
						t.Errorf("%q as %s: %s becomes %s", secret, how, text, got)
					}
				}
			}
		}
	}
}

// TestNothingIsGlued: lines of words, hashes and base64 of others stay.
func TestNothingIsGlued(t *testing.T) {
	r := New("Zq7canaryAbx9Kd", "hunter2")
	r.AddFor("", "foobarbaz")
	for _, text := range []string{
		"foo\nbar\nbaz\n", "- foo\n- bar\n- baz\n", "hun\nter\n", "a\nb\nc",
		"image: nginx@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
		"cert: |\n  " + wrap(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("an ordinary text, ", 20))), 64, "\n  ") + "\n",
	} {
		if got := r.Redact(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestBase64IsLinear: lines of base64 in base64, glued to others, take no more than their length.
func TestBase64IsLinear(t *testing.T) {
	r := New("Zq7canary<Abx9Kd")
	text := func(n int) string {
		s := strings.Repeat("plain text and so on ", n)
		for range derivedDepth {
			s = "tok_" + wrap(layers['r'](s), 76, "\n ") + "_end"
		}
		return s
	}
	took := func(n int) time.Duration {
		best, in := time.Hour, text(n)
		for range 3 {
			start := time.Now()
			r.Redact(in)
			best = min(best, time.Since(start))
		}
		return best
	}
	one, ten := took(200), took(2000)
	for tries := 1; ten > 40*one && tries < 5; tries++ { // the machine is shared
		one, ten = took(200), took(2000)
	}
	if ten > 40*one {
		t.Errorf("once takes %s, ten times %s", one, ten)
	}
}

func FuzzBase64(f *testing.F) {
	f.Add("can<ary", "tok_", "end", uint8(76), uint8(1))
	f.Add("c\"a\\nary%", "", "", uint8(4), uint8(0))
	f.Fuzz(func(t *testing.T, middle, before, behind string, width, how uint8) {
		secret := "Zq7x4" + middle + "Kd8w2"
		for _, s := range []string{middle, before, behind} {
			if len(s) > 40 || strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' || r == '*' }) {
				return
			}
		}
		text := before + nest(secret, []string{"b", "jb", "jr", "bb"}[how%4]) + behind
		if width > 7 {
			text = wrap(text, int(width), "\n  ")
		}
		got := New(secret).Redact("x: " + text + "\n")
		joined := strings.ReplaceAll(got, "\n  ", "")
		for phase := range 4 {
			run := strings.NewReplacer("-", "+", "_", "/").Replace(joined[min(len(joined), 3+phase):])
			for run != "" {
				n := strings.IndexFunc(run, func(r rune) bool { return r > '~' || !inBase64[r] })
				if n < 0 {
					n = len(run)
				}
				data, _ := base64.RawStdEncoding.DecodeString(run[:n-n%4])
				if strings.Contains(string(data), "Zq7x4") && strings.Contains(string(data), "Kd8w2") {
					t.Errorf("%q in %s becomes %s", secret, text, got)
				}
				run = run[min(len(run), n+1):]
			}
		}
	})
}

// TestShortBase64: a name and a short secret are hidden in a run that is all of one such text; nothing is hidden in a longer one that holds it
// by chance, nor in words.
func TestShortBase64(t *testing.T) {
	r := New()
	r.AddFor("db", "4711")
	for text, want := range map[string]string{
		"auth: dTo0NzEx":        "auth: ***",
		"auth: dTo0NzEx\nb: ok": "auth: ***\nb: ok",
		"auth: dTp4LTQ3MTE=":    "auth: ***",
		"auth: username":        "auth: username",
	} {
		if got := r.Value("db", text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

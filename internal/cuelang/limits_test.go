package cuelang_test

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

func TestCheckSource(t *testing.T) {
	limits := cuelang.Limits{SourceBytes: 1 << 20, Nesting: 50, Chain: 1000}
	for name, c := range map[string]struct{ src, code string }{
		"plain":          {"a: {b: [1, {c: \"x\"}]}", ""},
		"interpolation":  {`a: "x\(b) ((((( \("y\(c)") ["` + "\n" + `d: {}`, ""},
		"brackets":       {strings.Repeat("{a: ", 51), "source-too-deep"},
		"fields":         {strings.Repeat("a: ", 51) + "1", "source-too-deep"},
		"field by line":  {strings.Repeat("a:\n", 51) + "1", "source-too-deep"},
		"quoted fields":  {strings.Repeat("\"a\": ", 51) + "1", "source-too-deep"},
		"mixed":          {strings.Repeat("a: b: {c: [", 13), "source-too-deep"},
		"many fields":    {strings.Repeat("a: b: 1, ", 100) + "{" + strings.Repeat("c: d: 2\n", 100) + "}", ""},
		"after a struct": {strings.Repeat("a: {b: c: 1}\n", 200), ""},
		"slices":         {"a: [" + strings.Repeat("x[1:2], ", 100) + "]", ""},
		"lists":          {strings.Repeat("[", 51), "source-too-deep"},
		"in a string":    {`a: "` + strings.Repeat("[", 500) + `"`, ""},
		"in a comment":   {"// " + strings.Repeat("(", 500) + "\na: 1", ""},
		"signs":          {"a: " + strings.Repeat("-", 100) + "1", "source-too-deep"},
		"chain":          {"a: 1" + strings.Repeat("+1", 1000), "source-too-deep"},
		"long file":      {strings.Repeat("a: b: 1\n", 2000), ""},
		"large":          {strings.Repeat("a", 1<<20+1), "source-too-large"},
		"NUL":            {"a: 1\nb: \"\x00\"", "not-text"},
		"not UTF-8":      {"a: \"\xff\xfe\"", "not-text"},
		"unclosed":       {"a: \"\\(b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fs := cuelang.CheckSource("x.cue", []byte(c.src), limits)
			if c.code == "" && len(fs) > 0 {
				t.Fatalf("got %v", fs)
			}
			if c.code != "" && (len(fs) != 1 || fs[0].Code != c.code || fs[0].Pos.File != "x.cue") {
				t.Fatalf("got %v, want %s", fs, c.code)
			}
		})
	}
}

func TestFromYAMLAndJSON(t *testing.T) {
	f, err := cuelang.FromYAML("v.yaml", []byte("b: 1\na:\n  - x\n  - 2.0\n  - null\n  - true\n"))
	if err != nil {
		t.Fatal(err)
	}
	y, err := cuelang.FromFile(f)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := cuelang.FromJSON("v.json", []byte("{\"b\": 1,\n\"a\": [\"x\", 2.0, null, true]}"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := cuelang.FromSyntax(parsed)
	if err != nil {
		t.Fatal(err)
	}
	if cuelang.Digest(y) != cuelang.Digest(j) {
		t.Errorf("yaml %s\njson %s", text(t, y), text(t, j))
	}
	if p := y.Lookup("a").Items[1].Pos; p.File != "v.yaml" || p.Line != 4 {
		t.Errorf("yaml position %v", p)
	}
	if p := j.Lookup("a").Pos; p.File != "v.json" || p.Line != 2 {
		t.Errorf("json position %v", p)
	}
}

func TestFromYAMLErrors(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		p := string(i - 1)
		bomb += string(i) + ": &" + string(i) + " [" + strings.Repeat("*"+p+",", 9) + "*" + p + "]\n"
	}
	for name, src := range map[string]string{
		"duplicate": "a: 1\nb: 2\na: 3\n", "tab": "a:\n\tb: 1\n", "NUL": "a: \x00", "bomb": bomb, "open": "a: [1",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := cuelang.FromYAML("v.yaml", []byte(src))
			if err == nil {
				_, err = cuelang.FromFile(f)
			}
			fs := cuelang.Findings(err, nil, "")
			if len(fs) == 0 || fs[0].Pos.File != "v.yaml" || fs[0].Pos.Line == 0 {
				t.Errorf("got %v", fs)
			}
		})
	}
	if _, err := cuelang.FromJSON("v.json", []byte(strings.Repeat("[", 100000))); err == nil {
		t.Error("deep JSON is accepted")
	}
	e, err := cuelang.FromJSON("v.json", []byte(`{"a": 1, "a": 2}`))
	if err == nil {
		_, err = cuelang.FromSyntax(e)
	}
	if err == nil {
		t.Error("duplicate JSON keys are accepted")
	}
}

func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that nothing takes time but what waits
		testWatchdog(t)
		time.Sleep(time.Second) // it ends when nothing is evaluated any more
	})
}

func testWatchdog(t *testing.T) {
	got := make(chan diag.Finding, 4)
	w := cuelang.Watch(cuelang.WatchLimits{Deadline: 20 * time.Millisecond}, func(f diag.Finding) { got <- f })
	quick := w.Enter("quick")
	quick()
	leave := w.Enter("instance slow")
	select {
	case f := <-got:
		if f.Code != "evaluation-too-long" || !strings.Contains(f.What, "instance slow") {
			t.Errorf("got %v", f)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the watchdog did not bark")
	}
	leave()
	w.Enter("again")()
	select {
	case f := <-got:
		t.Errorf("barked twice: %v", f)
	case <-time.After(150 * time.Millisecond):
	}
	heap := cuelang.Watch(cuelang.WatchLimits{HeapBytes: 1}, func(f diag.Finding) { got <- f })
	defer heap.Enter("big")()
	if f := <-got; f.Code != "evaluation-too-large" {
		t.Errorf("got %v", f)
	}
	var none *cuelang.Watchdog
	none.Enter("nothing")()
}

// TestWatchdogOwnBytes: what an evaluation adds is bounded, not what others have made before it.
func TestWatchdogOwnBytes(t *testing.T) {
	got := make(chan diag.Finding, 4)
	before := make([]byte, 64<<20)
	w := cuelang.Watch(cuelang.WatchLimits{OwnBytes: 32 << 20}, func(f diag.Finding) { got <- f })
	leave := w.Enter("small")
	select {
	case f := <-got:
		t.Errorf("what was there counts: %v", f)
	case <-time.After(150 * time.Millisecond):
	}
	leave()
	defer w.Enter("big")()
	own := make([]byte, 64<<20)
	select {
	case f := <-got:
		if f.Code != "evaluation-too-large" || !strings.Contains(f.What, "big") {
			t.Errorf("got %v", f)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the watchdog did not bark")
	}
	runtime.KeepAlive(before)
	runtime.KeepAlive(own)
}

func TestVersionIsTheOneBuilt(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "cuelang.org/go "+cuelang.Version+"\n") {
		t.Errorf("cuelang.Version %s is not the version in go.mod", cuelang.Version)
	}
}

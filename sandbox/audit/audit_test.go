package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const lines = `{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/configmaps/x?dryRun=All&fieldManager=me&force=true","verb":"patch","user":{"username":"jane"},"userAgent":"u/1","objectRef":{"resource":"configmaps","namespace":"a","name":"x"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05.000000Z","stageTimestamp":"2026-01-02T03:04:05.012500Z"}
{"stage":"ResponseComplete","requestURI":"/api/v1/nodes","verb":"list","user":{"username":"system:own"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:06.000000Z","stageTimestamp":"2026-01-02T03:04:06.000000Z"}
{"stage":"ResponseComplete","requestURI":"/apis?x=%zz","verb":"get","user":{"username":"proxy"},"impersonatedUser":{"username":"joe"},"responseStatus":{"code":403},"requestReceivedTimestamp":"2026-01-02T03:04:07.000000Z","stageTimestamp":"2026-01-02T03:04:07.000000Z"}
`

func read(t *testing.T, path string, o Options) ([]Entry, int64) {
	t.Helper()
	var got []Entry
	next, err := Read(path, o, func(e Entry) error { got = append(got, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return got, next
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	half := `{"stage":"Respon`
	if err := os.WriteFile(path, []byte(lines+half), 0o600); err != nil {
		t.Fatal(err)
	}
	got, next := read(t, path, Options{Ignore: []string{"system:own"}})
	if next != int64(len(lines)) {
		t.Errorf("the next read begins at %d, want %d: a half line is read when it is whole", next, len(lines))
	}
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	e := got[0]
	if e.Method != "PATCH" || e.Path != "/api/v1/namespaces/a/configmaps/x" || !e.DryRun || !e.Force || e.FieldManager != "me" ||
		e.Status != 200 || e.User != "jane" || e.UserAgent != "u/1" || e.DurationMs != 12.5 || e.Resource != "configmaps" || e.Name != "x" {
		t.Errorf("got %+v", e)
	}
	if e := got[1]; e.User != "joe" || e.Status != 403 || e.Path != "/apis" {
		t.Errorf("got %+v; want the impersonated user", e)
	}
	if got, _ := read(t, path, Options{}); len(got) != 3 {
		t.Errorf("with nobody ignored: %+v", got)
	}
	if got, _ := read(t, path, Options{From: next}); len(got) != 0 {
		t.Errorf("from the end: %+v", got)
	}
	if got, _ := read(t, path, Options{Since: time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)}); len(got) != 1 {
		t.Errorf("since the last second: %+v", got)
	}
}

func TestNoLogYet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if got, next := read(t, path, Options{}); got != nil || next != 0 {
		t.Errorf("got %+v, %d", got, next)
	}
	if n, err := Offset(path); n != 0 || err != nil {
		t.Errorf("Offset() = %d, %v", n, err)
	}
}

func TestBrokenLineIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte("{]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, Options{}, func(Entry) error { return nil }); err == nil {
		t.Error("no error")
	}
}

func TestMethods(t *testing.T) {
	for verb, want := range map[string]string{
		"get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH",
		"delete": "DELETE", "deletecollection": "DELETE", "post": "POST", "head": "HEAD",
	} {
		if got := methodOf(verb); got != want {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
}

// TestOffsetIsBehindAWholeLine: the API server may be in the middle of a line when it is asked.
func TestOffsetIsBehindAWholeLine(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for text, want := range map[string]int64{"": 0, "half": 0, "one\n": 4, "one\nhal": 4, "one\n" + long: 4, long + "\n" + long: 10_001} {
		path := filepath.Join(t.TempDir(), "audit.log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Offset(path); err != nil || got != want {
			t.Errorf("offset of %d bytes: %d, %v, want %d", len(text), got, err, want)
		}
	}
	if got, err := Offset(filepath.Join(t.TempDir(), "none")); err != nil || got != 0 {
		t.Errorf("offset of no file: %d, %v", got, err)
	}
}

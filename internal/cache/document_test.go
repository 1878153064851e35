package cache

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A document is asked for once, again when what is kept was changed, and what has another hash is handed on and not kept.
func TestDocument(t *testing.T) {
	c := Open(Options{Dir: t.TempDir()})
	text := "what a server publishes"
	sum := sha512.Sum512([]byte(text))
	hash := strings.ToUpper(hex.EncodeToString(sum[:]))
	asked := 0
	get := func(hash, answer string) string {
		t.Helper()
		data, err := c.Document(t.Context(), hash, func(context.Context) ([]byte, error) { asked++; return []byte(answer), nil })
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for range 2 {
		if got := get(hash, text); got != text || asked != 1 {
			t.Errorf("%q, asked %d times", got, asked)
		}
	}
	kept, err := filepath.Glob(filepath.Join(c.Location(), "documents", "sha512", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if err := os.WriteFile(kept[0], []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := get(hash, text); got != text || asked != 2 {
		t.Errorf("after damage: %q, asked %d times", got, asked)
	}
	entries, err := c.List(t.Context())
	if err != nil || len(entries) != 1 || entries[0].Digest != "sha512:"+strings.ToLower(hash) {
		t.Errorf("listed: %v, %v", entries, err)
	}
	if removed, err := c.Prune(t.Context(), Policy{All: true}, time.Now()); err != nil || len(removed.Entries) != 1 {
		t.Errorf("removed: %v, %v", removed, err)
	}
	for range 2 {
		if got := get(hash, "a lie"); got != "a lie" {
			t.Error(got)
		}
	}
	if asked != 4 {
		t.Errorf("what has another hash was kept: asked %d times", asked)
	}
	for _, odd := range []string{"", "../../x", "AB"} {
		if got := get(odd, text); got != text {
			t.Error(got)
		}
	}
	want := errors.New("no answer")
	if _, err := c.Document(t.Context(), hash, func(context.Context) ([]byte, error) { return nil, want }); !errors.Is(err, want) {
		t.Error(err)
	}
}

package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"hawser.dev/hawser/internal/rootfs"
)

// maxNote is how long a note may be.
const maxNote = 4 << 20

// Note is what was kept under a key; ok is false when nothing is. Nothing proves a note: who can write the cache can write
// one, so it may only be what its reader verifies, such as a signature.
func (c *Cache) Note(key string) (data []byte, ok bool) {
	if c.dir == "" {
		return nil, false
	}
	at := c.noteAt(key)
	info, err := os.Stat(at)
	if err != nil || info.Size() > maxNote {
		return nil, false
	}
	if data, err = rootfs.ReadFile(at, maxNote); err != nil {
		return nil, false
	}
	c.touch(at)
	return data, true
}

// KeepNote keeps a note under a key, in place of one that is there; where that cannot be, nothing is kept.
func (c *Cache) KeepNote(key string, data []byte) {
	if c.dir == "" || len(data) > maxNote {
		return
	}
	at := c.noteAt(key)
	_ = c.removeAll(at)
	c.keep(at, data)
}

func (c *Cache) noteAt(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(c.dir, "notes", "sha256", hex.EncodeToString(sum[:]))
}

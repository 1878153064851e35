package planfile

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"hawser.dev/hawser/internal/rootfs"
)

// Key is what a user's plan files are sealed with.
type Key []byte

const keySize = 32

// ID names the key in the files it sealed: a digest that says nothing of the key.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("hawser plan key\x00"), k...))
	return hex.EncodeToString(sum[:8])
}

// KeyFile is the file, readable by its user alone, that holds the key. An empty Path is a place for no key.
type KeyFile struct{ Path string }

// DefaultKeyFile is plan.key in the user's directory for state: $XDG_STATE_HOME/hawser, ~/.local/state/hawser, or what the
// system has for settings. getenv reads the environment.
func DefaultKeyFile(getenv func(string) string) KeyFile {
	dir := getenv("XDG_STATE_HOME")
	if dir == "" || !filepath.IsAbs(dir) {
		dir = ""
		if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
			dir, _ = os.UserConfigDir()
		} else if home := getenv("HOME"); home != "" {
			dir = filepath.Join(home, ".local", "state")
		}
	}
	if dir == "" {
		return KeyFile{}
	}
	return KeyFile{Path: filepath.Join(dir, "hawser", "plan.key")}
}

// Read returns the key; nil when none was made yet. A file that others may read or change holds no secret: that is an
// error, and so is one that was damaged.
func (f KeyFile) Read() (Key, error) {
	if f.Path == "" {
		return nil, nil
	}
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the key of plan files: %w", err)
	case !info.Mode().IsRegular(), info.Size() > 1024:
		return nil, fmt.Errorf("the key of plan files %s is damaged: remove it, and plan again", f.Path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("the key of plan files %s is open to others (%s): remove it, and plan again", f.Path, info.Mode().Perm())
	}
	text, err := rootfs.ReadFile(f.Path, 1024)
	if err != nil {
		return nil, fmt.Errorf("the key of plan files: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("the key of plan files %s is damaged: remove it, and plan again", f.Path)
	}
	return key, nil
}

// Make returns the key, and makes it when there is none. Processes that make it at once agree on one.
func (f KeyFile) Make() (Key, error) {
	key, err := f.Read()
	if key != nil || err != nil {
		return key, err
	}
	if f.Path == "" {
		return nil, errors.New("the key of plan files has no place: neither HOME nor XDG_STATE_HOME is set")
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return nil, fmt.Errorf("the key of plan files: %w", err)
	}
	key = make(Key, keySize)
	_, _ = rand.Read(key) // never fails
	tmp, err := os.CreateTemp(filepath.Dir(f.Path), ".plan.key-*")
	if err != nil {
		return nil, fmt.Errorf("the key of plan files: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString(hex.EncodeToString(key) + "\n")
	if err = errors.Join(err, tmp.Chmod(0o600), tmp.Sync(), tmp.Close()); err != nil {
		return nil, fmt.Errorf("the key of plan files: %w", err)
	}
	// a link never replaces a key that another process has made in the meantime; where there are no links, a rename
	if err := os.Link(tmp.Name(), f.Path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(tmp.Name(), f.Path); err != nil {
			return nil, fmt.Errorf("the key of plan files: %w", err)
		}
	}
	return f.Read()
}

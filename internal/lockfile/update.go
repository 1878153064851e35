package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// updateWait is how long another process's update is waited for.
	updateWait = 5 * time.Second
	// updateStale is the age from which such an update is that of a process that died: it takes milliseconds.
	updateStale = 30 * time.Second
)

// Update changes the file as it is now, not as it was when a run began: what others wrote in between stays. change gets
// its content and reports whether it changed anything; only then is the file replaced, at once. Updates of one file
// happen one after another, those of other processes included.
func Update(path string, change func(File) bool) error {
	release, err := exclusive(path)
	if err != nil {
		return fmt.Errorf("lock file %s: %w", path, err)
	}
	defer release()
	f, err := Read(path)
	if err != nil {
		return err
	}
	if !change(f) {
		return nil
	}
	return f.Write(path)
}

// Keep writes what a run learned into the lock file at path, where anything of it is new; "" keeps nothing.
func Keep(path string, news News) error {
	if path == "" {
		return nil
	}
	return Update(path, func(f File) bool { return f.Learn(news) })
}

// exclusive keeps other updates of a file out until release is called.
func exclusive(path string) (release func(), err error) {
	busy := filepath.Join(filepath.Dir(path), "."+Name+".busy")
	for end := time.Now().Add(updateWait); ; time.Sleep(10 * time.Millisecond) {
		f, err := os.OpenFile(busy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_ = f.Close()
			return func() { _ = os.Remove(busy) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, serr := os.Stat(busy); serr == nil && time.Since(info.ModTime()) > updateStale {
			_ = os.Remove(busy)
			continue
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("another process is writing it; if none is, remove %s", busy)
		}
	}
}

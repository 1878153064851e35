package blob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDirectoryIsBounded: a directory that somebody has filled is not read to its end, neither where it has many files nor many
// directories; what has room in it is listed whole, also over what is read at once.
func TestDirectoryIsBounded(t *testing.T) {
	for name, make := range map[string]func(at string) error{
		"files":       func(at string) error { return os.WriteFile(at, nil, 0o600) },
		"directories": func(at string) error { return os.Mkdir(at, 0o700) },
		"links": func(at string) error {
			return os.Symlink("nowhere", filepath.Join(filepath.Dir(at), "."+filepath.Base(at)))
		}, // no blobs' names
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "uid", "o", "heads"), 0o700); err != nil {
			t.Fatal(err)
		}
		const n = 2*atOnce + 1
		for i := range n {
			if err := make(filepath.Join(dir, "uid", "o", "heads", fmt.Sprintf("%012d", i))); err != nil {
				t.Fatal(err)
			}
		}
		d := openDir(t, dir)
		if list, err := d.List(t.Context(), "uid/"); err != nil || name == "files" && len(list) != n || name == "files" && list[n-1].Key != fmt.Sprintf("uid/o/heads/%012d", n-1) {
			t.Errorf("%s: %d, %v", name, len(list), err)
		}
		d.most = atOnce + 1
		if list, err := d.List(t.Context(), "uid/"); err == nil || !strings.Contains(err.Error(), "more than 1001 files and directories") || list != nil {
			t.Errorf("%s: %d, %v", name, len(list), err)
		}
		ctx, end := context.WithCancelCause(t.Context())
		end(errDead)
		if _, err := d.List(ctx, ""); !errors.Is(err, errDead) {
			t.Errorf("%s, ended: %v", name, err)
		}
	}
}

// many is a bucket with as many owners as a listing may have.
type many struct {
	Bucket
	owners int
}

func (m many) List(context.Context, string) (list []Entry, err error) {
	for i := range m.owners {
		owner := fmt.Sprintf("uid-1/o%07d/", i)
		list = append(list, Entry{Key: owner + "heads/000000000001"}, Entry{Key: owner + "heads/000000000002"}, Entry{Key: owner + "locks/000000000001"})
	}
	return list, nil
}

// TestManyOwners: who has something in a bucket is found in time that grows with the list.
func TestManyOwners(t *testing.T) {
	begun := time.Now()
	owners, err := open(t, many{openDir(t, t.TempDir()), maxBlobs / 2}).owners(t.Context(), heads)
	if err != nil || len(owners) != maxBlobs/2 || owners[1] != "o0000001" {
		t.Errorf("%d, %v", len(owners), err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

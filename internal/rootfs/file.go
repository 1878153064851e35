package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"hawser.dev/hawser/internal/misplaced"
)

// Sizes of files that a user names, in bytes.
const (
	// MaxSmall is for keys, configurations, tokens: what somebody wrote.
	MaxSmall = 8 << 20
	// MaxLarge is for what programs write: lock files, snapshots, plan files.
	MaxLarge = 256 << 20
)

// ReadFile reads a file that the user himself named, wherever it lies, of at most limit bytes. What has no end or may never
// begin (devices, pipes) is refused before it is opened. Errors name the file and wrap those of os.
func ReadFile(name string, limit int) ([]byte, error) {
	f, err := OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadAll(f, name, limit)
}

// OpenFile opens such a file for who reads it piece by piece.
func OpenFile(name string) (*os.File, error) {
	return opened(name, os.Stat, func() (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
}

// OpenIn is OpenFile below a directory.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return opened(name, root.Stat, func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
}

// opened opens a file that is one before and after: it may have become a pipe meanwhile, which open does not wait for.
func opened(name string, stat func(string) (fs.FileInfo, error), open func() (*os.File, error)) (*os.File, error) {
	info, err := stat(name)
	if err != nil {
		return nil, unnamed(name, err)
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// unnamed is an error about a file without its name where that is the content of one: who asks may say in which variable or field it stands.
func unnamed(name string, err error) error {
	pe, ok := errors.AsType[*fs.PathError](err)
	if !ok || !misplaced.Path(name) {
		return err
	}
	return &fs.PathError{Op: pe.Op, Path: "what is named as a file (it is the content of one, and is not shown)", Err: pe.Err}
}

func regular(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	case mode&fs.ModeNamedPipe != 0 && strings.HasPrefix(name, "/dev/fd/"):
		return nil // a shell's <(program): somebody writes it, and ends
	case mode&fs.ModeNamedPipe != 0:
		return &fs.PathError{Op: "read", Path: name, Err: errors.New("it is a pipe, and a file is wanted")}
	case mode&fs.ModeDevice != 0:
		return &fs.PathError{Op: "read", Path: name, Err: errors.New("it is a device, and a file is wanted")}
	}
	return &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no regular file")}
}

// ReadAll reads a stream to its end, which must come within limit bytes. The error calls it name.
func ReadAll(in io.Reader, name string, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it has more than %s", size(limit))}
	}
	return data, nil
}

func size(bytes int) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

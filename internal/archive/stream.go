package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
)

// stream is the tar stream of an archive: unpacked when it is gzip, counted, bounded and cancellable.
type stream struct {
	ctx    context.Context
	in     *counter // compressed bytes
	out    io.Reader
	limits Limits
	read   int64
	all    *int64 // what was read of all archives
	zeros  int64  // zero bytes at the end of what was read
	packed bool
	head   []byte // the first bytes of what was read
	broken error  // what ended it before its end
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func open(ctx context.Context, r io.Reader, limits Limits, all *int64) (*stream, error) {
	s := &stream{ctx: ctx, in: &counter{r: r}, limits: limits, all: all}
	buffered := bufio.NewReaderSize(s.in, 64<<10)
	s.out = buffered
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(magic) == 0 {
		return nil, refuse(Format, "", "it is empty")
	}
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		s.packed = true
		if s.out, err = gzip.NewReader(buffered); err != nil {
			return nil, damaged(err)
		}
	}
	return s, nil
}

func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.out.Read(p)
	s.read, *s.all = s.read+int64(n), *s.all+int64(n)
	if rest := headBytes - len(s.head); rest > 0 {
		s.head = append(s.head, p[:min(n, rest)]...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.broken = err
	}
	if trimmed := bytes.TrimRight(p[:n], "\x00"); len(trimmed) > 0 {
		s.zeros = int64(n - len(trimmed))
	} else {
		s.zeros += int64(n)
	}
	switch {
	case *s.all > s.limits.stream():
		return n, refuse(Limit, "", "it becomes more than %d MiB", s.limits.Bytes>>20)
	case s.packed && s.read > ratioFree && s.read > s.in.n*s.limits.Ratio:
		return n, refuse(Limit, "", "it becomes more than %d times its compressed size", s.limits.Ratio)
	}
	return n, err
}

// finish reads what is behind the last entry: nothing but zeros may be there, and the end must be marked.
func (s *stream) finish() error {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.Read(buf)
		if len(bytes.TrimRight(buf[:n], "\x00")) > 0 {
			return refuse(Format, "", "something follows its end")
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return damaged(err)
		}
	}
	if s.zeros < 2*512 {
		return refuse(Format, "", "it is cut off: the end is not marked")
	}
	return nil
}

// damaged makes a refusal of a reader's error, save of those that are no fault of the archive.
func damaged(err error) error {
	switch {
	case err == nil, IsRefused(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return refuse(Format, "", "it is cut off")
	}
	return refuse(Format, "", "it is damaged or no tar: %v", err)
}

// Looks reports whether the first bytes of a file (512 are enough) are those of an archive: gzip, or a tar's header.
func Looks(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || isTar(head)
}

// isTar reports whether bytes are the beginning of a tar's header.
func isTar(head []byte) bool { return len(head) >= 262 && string(head[257:262]) == "ustar" }

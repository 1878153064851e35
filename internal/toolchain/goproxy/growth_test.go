package goproxy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// overlapping is a zip of so many files, all of them the same packed zeros.
func overlapping(t *testing.T, size, files int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(mod + "@" + version + "/a00000.go")
	for n := 0; err == nil && n < size; n += 1 << 20 {
		_, err = f.Write(make([]byte, 1<<20))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	data, end := b.Bytes(), bytes.LastIndex(b.Bytes(), []byte("PK\x05\x06"))
	at := bytes.LastIndex(data[:end], []byte("PK\x01\x02"))
	out := bytes.Clone(data[:at])
	for i := range files {
		out = append(out, bytes.Replace(data[at:end], []byte("a00000"), fmt.Appendf(nil, "a%05d", i), 1)...)
	}
	tail, length := bytes.Clone(data[end:]), len(out)-at
	for i, b := range []int{files, files >> 8, files, files >> 8, length, length >> 8, length >> 16, length >> 24} {
		tail[8+i] = byte(b)
	}
	return append(out, tail...)
}

// TestZipThatGrows: what the files of a zip become is bounded before any of them is read, also where they are the same bytes of it: 0.3 MB would be
// 60 GB to compute a sum of. A file that is longer than the zip says is damage.
func TestZipThatGrows(t *testing.T) {
	p := start(t, files)
	p.zip = overlapping(t, 30<<20, 2000)
	if len(p.zip) > 1<<20 {
		t.Fatalf("it has %d bytes", len(p.zip))
	}
	_, _, err := p.client("", nil).Source(t.Context(), mod, version)
	if err == nil || !strings.Contains(err.Error(), "its files become more than 500 MiB") {
		t.Errorf("it is read: %v", err)
	}
	short := overlapping(t, 1<<20, 1)
	at := bytes.LastIndex(short, []byte("PK\x01\x02"))
	copy(short[at+24:], []byte{1, 0, 0, 0})
	z, err := zip.NewReader(bytes.NewReader(short), int64(len(short)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, in); err == nil || n > 1<<16 {
		t.Errorf("%d bytes of a file that has one, it says: %v", n, err)
	}
}

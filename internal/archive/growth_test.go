package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func opened(data []byte) Source {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// What an archive does not list counts as well: the directories that its paths lead through, and where its links lead to, which are kept
// until it was read.
func TestUnlistedIsBounded(t *testing.T) {
	var deep []item
	for i := range 10 {
		deep = append(deep, file(fmt.Sprintf("%d/b/c/d/e/f", i), ""))
	}
	for name, c := range map[string]struct {
		data   []byte
		limits Limits
	}{
		"directories":   {makeTar(t, deep...), Limits{Entries: 20}},
		"symbolic link": {makeTar(t, symlink("l", strings.Repeat("d/", 600)+"x")), Limits{}},
		"hard link":     {makeTar(t, hardlink("l", strings.Repeat("d/", 600)+"x")), Limits{}},
		"dots":          {makeTar(t, symlink("l", strings.Repeat("./", 600)+"x")), Limits{}},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, Limit, func(dir string) error { return Extract(t.Context(), bytes.NewReader(c.data), dir, c.limits) })
			if _, err := Sums(t.Context(), []Source{opened(c.data)}, c.limits); !IsRefused(err) {
				t.Errorf("its sums are told: %v", err)
			}
		})
	}
	wide := makeTar(t, append(deep[:2:2], dir("0/b/c/"), dir("1/"))...)
	if _, err := Sums(t.Context(), []Source{opened(wide)}, Limits{Entries: 6}); err != nil {
		t.Errorf("as many directories as entries may be: %v", err)
	}
}

// However often one layer is named, what all of them become is bounded together, and not only the files: what is unpacked to be passed over
// takes time as well.
func TestLayersAreBoundedTogether(t *testing.T) {
	var comment bytes.Buffer
	w := tar.NewWriter(&comment)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"HAWSER.x": strings.Repeat("x", 900<<10)}})
	if err := errors.Join(err, w.Flush()); err != nil {
		t.Fatal(err)
	}
	for name, layer := range map[string][]byte{
		"zeros behind the end": append(makeTar(t, file("a", "1")), make([]byte, 900<<10)...),
		"comments":             append(comment.Bytes(), makeTar(t, file("a", "1"))...),
	} {
		opens := 0
		var all []Source
		for range 64 {
			all = append(all, func() (io.ReadCloser, error) { opens++; return opened(zip(t, layer))() })
		}
		_, err := Sums(t.Context(), all[:2], Limits{Bytes: 1 << 20, Entries: 10})
		if err != nil {
			t.Errorf("%s: two of them: %v", name, err)
		}
		opens = 0
		wantRefused(t, Limit, func(dir string) error { return ExtractAll(t.Context(), all, dir, Limits{Bytes: 1 << 20, Entries: 100}) })
		if opens > 10 {
			t.Errorf("%s: %d were read", name, opens)
		}
	}
}

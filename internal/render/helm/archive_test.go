package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
)

// tgz is an archive of one file.
func tgz(t testing.TB, name string, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// manyBombs are archives that are each within the limits.
func manyBombs(t testing.TB) map[string]string {
	t.Helper()
	one := tgz(t, "sub/big", make([]byte, 4<<20))
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("chart/charts/sub%d.tgz", i)] = one
	}
	return files
}

// nested is an archive of an archive, and so on.
func nested(t testing.TB, depth int) string {
	t.Helper()
	text := tgz(t, "sub/Chart.yaml", []byte("apiVersion: v2\nname: sub\nversion: 1.0.0\n"))
	for range depth {
		text = tgz(t, "sub/charts/sub.tgz", []byte(text))
	}
	return text
}

func structOf(f *ast.File) *v1alpha1.Value {
	x, err := cuelang.FromFile(f)
	if err != nil || x.Kind != v1alpha1.KindStruct {
		return nil
	}
	return x
}

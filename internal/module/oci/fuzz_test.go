package oci

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/module"
)

// Whatever a registry calls a manifest, reading it ends with valid digests and bounded sizes, or with a finding.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"mediaType":"a","size":1,"digest":"sha256:` + strings.Repeat("a", 64) + `"},"layers":[]}`))
	f.Add([]byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{}]}`))
	f.Add([]byte(`{"schemaVersion":2,"layers":[{"size":-1}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := readManifest(place{scheme: module.SchemeOCI}, data, 1000)
		if err != nil {
			return
		}
		var total int64
		for _, l := range append(m.content(""), m.Config) {
			total += l.Size
			if len(l.Digest) != 71 || l.Size < 0 || total > 1000 {
				t.Errorf("taken: %+v", l)
			}
		}
	})
}

// A URL is read or refused, and what was read is read again from how it prints. No password is repeated.
func FuzzPlace(f *testing.F) {
	for _, s := range []string{"oci://ghcr.io/x/y:1.0.0", "oci://h:5000/x@sha256:" + strings.Repeat("b", 64), "oci-layout://./dir:tag", "oci-archive://C:/x.tar",
		"oci://user:p4ss@h/x", "oci://", "oci-layout://a@b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		p, err := parsePlace(url)
		if err != nil {
			return
		}
		again, err := parsePlace(p.String())
		if err != nil || again != p {
			t.Errorf("%q is %+v, printed %q, which is %+v (%v)", url, p, p, again, err)
		}
	})
}

// A version is read or refused, never more than one of tag and range.
func FuzzVersion(f *testing.F) {
	for _, s := range []string{"", "1.2.3", "v1.2.3+b", "^1", "1.x", "latest", ">=1 <2 || 4", "1.2.3.4", "x"} {
		f.Add(s, "1.0.0")
	}
	f.Fuzz(func(t *testing.T, version, tag string) {
		w, err := readVersion(version)
		if err != nil {
			return
		}
		if (w.tags == nil) == (w.within == nil) {
			t.Errorf("%q means %+v", version, w)
		}
		if w.within != nil {
			if found := newest([]string{tag, "1.0.0"}, w.within); found != "" && found != tag && found != "1.0.0" {
				t.Errorf("%q found %q", version, found)
			}
		}
		sortTags([]string{tag, version, "1.0.0", "latest"})
	})
}

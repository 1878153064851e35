//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// served answers requests for a path, whatever is asked of it.
type served struct {
	// body is sent as it is; packed says that it is gzip on the way.
	body   []byte
	packed bool
	kind   string
	link   string
}

// serving is a server that gives these answers by path, of less than 1 MiB each; "*" is for all others.
func serving(t *testing.T, answers map[string]served) (host string) {
	t.Helper()
	for at, a := range answers {
		if len(a.body) > 1<<20 {
			t.Fatalf("%s has %d bytes", at, len(a.body))
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.URL.Path]
		if !ok {
			if a, ok = answers["*"]; !ok {
				http.NotFound(w, r)
				return
			}
		}
		for name, value := range map[string]string{"Content-Type": a.kind, "Link": a.link} {
			if value != "" {
				w.Header().Set(name, value)
			}
		}
		if a.packed {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = w.Write(a.body)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// gzipped packs what write writes, which is in nobody's memory.
func gzipped(t *testing.T, write func(w io.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// repeated is a text, another one so often that there are so many bytes of it, and a third.
func repeated(head, again, tail string, size int) func(io.Writer) {
	chunk := strings.Repeat(again, 1+4096/len(again))
	return func(w io.Writer) {
		_, _ = io.WriteString(w, head)
		for n := 0; n < size; n += len(chunk) {
			_, _ = io.WriteString(w, chunk)
		}
		_, _ = io.WriteString(w, tail)
	}
}

func sumText(data []byte) string {
	s := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(s[:])
}

// artifact is a registry with one artifact, of these layers, under every tag.
func artifact(t *testing.T, layers ...[]byte) (url string) {
	t.Helper()
	type desc struct {
		MediaType string `json:"mediaType"`
		Size      int    `json:"size"`
		Digest    string `json:"digest"`
	}
	answers := map[string]served{}
	put := func(kind string, data []byte) desc {
		answers["/v2/x/blobs/"+sumText(data)] = served{body: data}
		return desc{kind, len(data), sumText(data)}
	}
	m := map[string]any{"schemaVersion": 2, "config": put("application/vnd.cncf.flux.config.v1+json", []byte("{}"))}
	var list []desc
	for _, l := range layers {
		list = append(list, put("application/vnd.cncf.flux.content.v1.tar+gzip", l))
	}
	m["layers"] = list
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	answers["/v2/x/manifests/1.0.0"] = served{body: data, kind: "application/vnd.oci.image.manifest.v1+json"}
	answers["/v2/x/manifests/"+sumText(data)] = answers["/v2/x/manifests/1.0.0"]
	answers["/v2/x/tags/list"] = served{body: []byte(`{"tags":["1.0.0"]}`)}
	return "oci://" + serving(t, answers) + "/x"
}

const bombKey = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4F0QWG2kzFpFwspBWKkP3Fsi9XjS\njfoYToEdP96C0QxbLIdaGbitYRLAyl/LOCJNKHeWSECuSpzE3yUXr6QMmg==\n-----END PUBLIC KEY-----\n"

// incompressible is what does not pack: with it an archive is as large as its ratio allows.
func incompressible(n int) []byte {
	var out []byte
	for sum := sha256.Sum256(nil); len(out) < n; sum = sha256.Sum256(sum[:]) {
		out = append(out, sum[:]...)
	}
	return out
}

// tarred is a layer of these entries.
func tarred(t *testing.T, write func(w *tar.Writer)) []byte {
	t.Helper()
	return gzipped(t, func(out io.Writer) {
		w := tar.NewWriter(out)
		write(w)
		_ = w.Close()
	})
}

func addFile(w *tar.Writer, name string, data []byte) {
	_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644, Typeflag: tar.TypeReg})
	_, _ = w.Write(data)
}

// chartRepo is a bundle with a chart of a repository with this index.
func chartRepo(t *testing.T, index served) bomb {
	host := serving(t, map[string]served{"/index.yaml": index})
	return bombIn(map[string]string{"b.yaml": strings.Replace(bombChart, "chart: ./chart", "chart: app, repo: \"http://"+host+"\", digest: \"sha256:"+strings.Repeat("0", 64)+"\"", 1)}, bombBuild)
}

// pulled is an artifact that is fetched.
func pulled(url string) bomb { return bombIn(nil, "artifact pull "+url+":1.0.0 -o out") }

// Bombs that a chart repository, a registry and a web server give.
func servedBombs(t *testing.T) map[string]bomb {
	index := func(head, again, tail string) bomb {
		return chartRepo(t, served{body: gzipped(t, repeated(head, again, tail, 60<<20)), packed: true})
	}
	const one = "entries: {app: [{version: 1.0.0}]}\n"
	deep := tarred(t, func(w *tar.Writer) {
		addFile(w, "noise", incompressible(1<<10))
		for i := range 9000 {
			addFile(w, fmt.Sprintf("%06d", i)+strings.Repeat("/abcdefghijklm", 62)+"/x", nil)
		}
	})
	same := slices.Repeat([][]byte{gzipped(t, func(out io.Writer) {
		w := tar.NewWriter(out)
		addFile(w, "noise", incompressible(760<<10))
		_ = w.Close()
		_, _ = io.CopyN(out, nothing{}, 140<<20)
	})}, 64)
	nothingThere := []byte(`{"schemaVersion":2,"manifests":[],"tags":["a"]}`)
	endless := serving(t, map[string]served{"*": {body: nothingThere, kind: "application/vnd.oci.image.index.v1+json", link: "<?x>; rel=next"}})
	layers := serving(t, map[string]served{"*": {body: []byte(`{"schemaVersion":2,"layers":[{}` + strings.Repeat(",{}", 300_000) + "]}")}})
	nested := serving(t, map[string]served{"*": {body: []byte(strings.Repeat(`{"manifests":[`, 60_000))}})
	itself := serving(t, map[string]served{"*": {body: []byte(`{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"digest":"sha256:` + strings.Repeat("0", 64) + `"}]}`)}})
	return map[string]bomb{
		"index: packed list":    index("x: [1", ",1", "]\n"+one).says("more than 3000000 values"),
		"index: packed lines":   index(one+"x:\n", "- \n", "").says("more than 3000000 values"),
		"index: packed keys":    index("entries: {app: [{version: 1.0.0}], b: [{}", ",{? ,? ,? }", "]}\n").says("more than 3000000 values"),
		"index: packed texts":   index("entries:\n app:\n", " - {version: 1.0.0, urls: [a]}\n", "").says("more than 3000000 values"),
		"index: packed comment": index(one, "#\n", "").says("has no URL for app"),
		"index: packed zeros":   index(one, "\n", "").says("has no URL for app"),
		"index: long aliases":   chartRepo(t, served{body: []byte(longAliases(""))}).says("aliases of this file, written out, stand for more than"),
		"layer: directories":    pulled(artifact(t, deep)).says("files and directories"),
		"layer: again":          pulled(artifact(t, same...)).says("it becomes more than 512 MiB"),
		"layer: members":        pulled(artifact(t, bytes.Repeat(gzipped(t, func(io.Writer) {}), 25_000))).says("cut off"),
		"manifest: layers":      pulled("oci://" + layers + "/x").says("layers, at most 64 are read"),
		"manifest: nested":      pulled("oci://" + nested + "/x").says("exceeded max depth"),
		"manifest: itself":      pulled("oci://" + itself + "/x").says("it is an index of 1 manifests"),
		"signatures: endless":   bombIn(map[string]string{"k.pub": bombKey}, "artifact verify oci://"+endless+"/x@"+sumText(nothingThere)+" --cosign-key k.pub").says("signatures than are read"),
		"tags: endless":         bombIn(nil, "artifact list oci://"+endless+"/x").says("more tags than are read"),
	}
}

// TestServedBombs is TestBombs for what is fetched: less than 1 MiB on the way.
func TestServedBombs(t *testing.T) {
	t.Parallel()
	for name, c := range servedBombs(t) {
		t.Run(name, func(t *testing.T) { c.explode(t, "") })
	}
}

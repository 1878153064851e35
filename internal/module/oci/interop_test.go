package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// untar is the files of a tar+gzip, read by nothing of ours.
func untar(t testing.TB, r io.Reader) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			data, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			out[h.Name] = string(data)
		}
	}
}

func imageAt(t testing.TB, reference string) v1.Image {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(ref, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func filesOf(t testing.TB, layers []v1.Layer) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, l := range layers {
		r, err := l.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(out, untar(t, r))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// What we push is, to the registry client of Timoni and Flux, what they push: media types, annotations, layers in
// order, and byte for byte the manifest which that client makes of the same layers.
func TestPushedAsTimoniDoes(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.0.0", moduleFiles)
	image := imageAt(t, r.Host+"/mods/x:1.0.0")
	m, err := image.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if m.Config.MediaType != "application/vnd.timoni.config.v1+json" || m.MediaType != types.OCIManifestSchema1 {
		t.Errorf("types %s, %s", m.MediaType, m.Config.MediaType)
	}
	var kinds []string
	for _, l := range m.Layers {
		kinds = append(kinds, string(l.MediaType)+" "+l.Annotations["sh.timoni.content.type"])
	}
	if d := cmp.Diff([]string{"application/vnd.timoni.content.v1.tar+gzip module/vendor", "application/vnd.timoni.content.v1.tar+gzip module"}, kinds); d != "" {
		t.Error(d)
	}
	if m.Annotations["org.opencontainers.image.version"] != "1.0.0" || m.Annotations["org.opencontainers.image.created"] == "" {
		t.Errorf("annotations %v", m.Annotations)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(moduleFiles, filesOf(t, layers)); d != "" {
		t.Error(d)
	}
	kinds = []string{module.ContentVendor, module.ContentModule}
	theirs, err := theirImage(t, types.MediaType(module.ModuleConfigType), m.Annotations, layers, kinds).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	// Versions of that client differ in what they write into a config that is no container's; nobody reads it.
	theirs.Config.Size, theirs.Config.Digest = m.Config.Size, m.Config.Digest
	data, err := json.Marshal(theirs)
	if err != nil || digestOf(data) != digest {
		t.Errorf("their client makes another manifest (%v):\n%s", err, data)
	}
	config, err := image.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want, err := theirImage(t, types.OCIConfigJSON, nil, layers, kinds).RawConfigFile()
	if d := cmp.Diff(string(want), string(config)); d != "" || err != nil {
		t.Errorf("config: %v %s", err, d)
	}
}

// theirImage is an image of layers as Timoni and Flux build it, with the client they use.
func theirImage(t testing.TB, config types.MediaType, annotations map[string]string, layers []v1.Layer, kinds []string) v1.Image {
	t.Helper()
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), config)
	image = mutate.Annotations(image, annotations).(v1.Image)
	for i, l := range layers {
		add := mutate.Addendum{Layer: l}
		if kinds != nil {
			add.Annotations = map[string]string{module.ContentTypeAnnotation: kinds[i]}
		}
		var err error
		if image, err = mutate.Append(image, add); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

// layerOf is a layer as they make it of a directory: with its times and the root as an entry.
func layerOf(t testing.TB, mediaType string, files map[string]string) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: ".", Typeflag: tar.TypeDir, Mode: 0o755})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(files[name])), Mode: 0o600, Uid: 1000}))
		_, writeErr := io.WriteString(w, files[name])
		err = errors.Join(err, writeErr)
	}
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(types.MediaType(mediaType)), tarball.WithCompressedCaching)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// What they push, we fetch: Timoni's modules, Flux' artifacts, Helm's charts, plain layers.
func TestFetchesTheirs(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	chart := map[string]string{"app/Chart.yaml": "name: app\nversion: 1.2.3\n", "app/templates/x.yaml": "a: 1\n", "app/charts/sub/Chart.yaml": "name: sub\n"}
	manifests := map[string]string{"deploy.yaml": "kind: Deployment\n", "sub/cm.yaml": "kind: ConfigMap\n"}
	for what, c := range map[string]struct {
		config string
		layers []v1.Layer
		kinds  []string
		want   map[string]string
	}{
		"timoni": {module.ModuleConfigType, []v1.Layer{layerOf(t, module.ModuleContentType, map[string]string{"cue.mod/module.cue": "m"}),
			layerOf(t, module.ModuleContentType, map[string]string{"timoni.cue": "t"})}, []string{module.ContentVendor, module.ContentModule},
			map[string]string{"cue.mod/module.cue": "m", "timoni.cue": "t"}},
		"flux":  {module.FluxConfigType, []v1.Layer{layerOf(t, module.FluxContentType, manifests)}, nil, manifests},
		"plain": {"application/vnd.oci.empty.v1+json", []v1.Layer{layerOf(t, string(types.OCILayer), manifests)}, nil, manifests},
		"helm": {module.ChartConfigType, []v1.Layer{layerOf(t, module.ChartContentType, chart),
			layerOf(t, "application/vnd.cncf.helm.chart.provenance.v1.prov", map[string]string{"x": "y"})}, nil,
			map[string]string{"Chart.yaml": chart["app/Chart.yaml"], "templates/x.yaml": "a: 1\n", "charts/sub/Chart.yaml": "name: sub\n"}},
	} {
		t.Run(what, func(t *testing.T) {
			ref, err := name.ParseReference(r.Host + "/theirs/" + what + ":1.2.3")
			if err != nil {
				t.Fatal(err)
			}
			image := theirImage(t, types.MediaType(c.config), map[string]string{"org.opencontainers.image.version": "1.2.3"}, c.layers, c.kinds)
			if err := remote.Write(ref, image, remote.WithContext(t.Context())); err != nil {
				t.Fatal(err)
			}
			digest, err := image.Digest()
			if err != nil {
				t.Fatal(err)
			}
			got, err := client(t.TempDir()).Fetch(t.Context(), module.Reference{URL: r.OCI("theirs/" + what), Version: "1.x", Digest: digest.String()})
			if err != nil || got.Version != "1.2.3" || got.Digest != digest.String() {
				t.Fatalf("%+v %v", got, err)
			}
			if d := cmp.Diff(c.want, read(t, got.Root, got.Files)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Flux' client pulls the first layer, whatever its type, and unpacks it when it is gzip: the first layer of what is
// pushed for it is all of it.
func TestPushedForFlux(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	files := map[string]string{"staging/api/v1_configmap_x.yaml": "kind: ConfigMap\n", "staging/web.yaml": "kind: Service\n"}
	a := module.Artifact{ConfigType: module.FluxConfigType, Annotations: map[string]string{module.SourceAnnotation: "https://git.example/x", module.RevisionAnnotation: "main@sha1:abc"},
		Layers: []module.Layer{{MediaType: module.FluxContentType, Root: write(t, files), Files: slices.Collect(maps.Keys(files))}}}
	pushed, err := client("").Push(t.Context(), r.OCI("out")+":staging", a, module.PushOptions{Tags: []string{"latest"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"staging", "latest"} {
		image := imageAt(t, r.Host+"/out:"+tag)
		if got, err := image.Digest(); err != nil || got.String() != pushed.Digest {
			t.Errorf("%s has digest %v, want %s", tag, got, pushed.Digest)
		}
		layers, err := image.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("%d layers, %v", len(layers), err)
		}
		if d := cmp.Diff(files, filesOf(t, layers[:1])); d != "" {
			t.Error(d)
		}
	}
}

// A layout we write is one to them, and what they write is one to us.
func TestLayoutsOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "layout")
	pushed, err := client("").Push(t.Context(), "oci-layout://"+dir+":1.0.0", moduleOf(t, "1.0.0", moduleFiles), module.PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil || len(m.Manifests) != 1 || m.Manifests[0].Digest.String() != pushed.Digest {
		t.Fatalf("%+v %v", m, err)
	}
	image, err := index.Image(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(moduleFiles, filesOf(t, layers)); d != "" {
		t.Error(d)
	}
	theirs := filepath.Join(t.TempDir(), "theirs")
	to, err := layout.Write(theirs, empty.Index)
	if err == nil {
		err = to.AppendImage(image, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "1.0.0"}))
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	got, err := client("").Pull(t.Context(), "oci-layout://"+theirs+":1.0.0", out, module.PullOptions{Digest: pushed.Digest})
	if err != nil || got.Digest != pushed.Digest {
		t.Fatalf("%+v %v", got, err)
	}
	if d := cmp.Diff(moduleFiles, read(t, out, got.Files)); d != "" {
		t.Error(d)
	}
}

// A registry whose certificate the system does not know is refused, and trusted through SSL_CERT_FILE. That is read
// once in a process, so others ask.
func TestTLS(t *testing.T) {
	if url := os.Getenv("HAWSER_TEST_REGISTRY"); url != "" {
		_, err := client("").Resolve(t.Context(), module.Reference{URL: url, Version: "1.x"})
		t.Fatal(err)
	}
	r := testregistry.Start(t, testregistry.Options{TLS: true})
	ask := func(env ...string) string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTLS$")
		cmd.Env = append(os.Environ(), append(env, "HAWSER_TEST_REGISTRY="+r.OCI("x"))...)
		out, _ := cmd.CombinedOutput() // it always fails, with what was said
		return string(out)
	}
	if said := ask("SSL_CERT_FILE=" + r.CAFile); !strings.Contains(said, "there is no such artifact") {
		t.Errorf("with the authority: %s", said)
	}
	for _, env := range []string{"SSL_CERT_FILE=" + filepath.Join(t.TempDir(), "none"), EnvInsecure + "=" + r.Host} {
		r.Forget()
		if said := ask(env); !strings.Contains(said, "is not trusted") || !strings.Contains(said, "SSL_CERT_FILE") || strings.Contains(said, "Get ") {
			t.Errorf("with %s: %s", env, said)
		}
		if asked := r.Requests(); len(asked) > 0 {
			t.Errorf("with %s: it was asked %v", env, asked)
		}
	}
}

// A registry that is not on this machine is spoken to without TLS only when that is said.
func TestInsecure(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.0.0", moduleFiles)
	named := "registry.example:" + r.Host[strings.LastIndex(r.Host, ":")+1:]
	for insecure, code := range map[string]string{"": "registry-plain-http", "other:1, " + named: ""} {
		o := Options{Getenv: func(key string) string {
			if key == EnvInsecure {
				return insecure
			}
			return ""
		}}
		o.HTTP.Dial = dialTo(r.Host)
		got, err := New(o).Fetch(t.Context(), module.Reference{URL: "oci://" + named + "/mods/x", Version: "1.0.0"})
		if code == "" {
			if err != nil || got.Digest != digest {
				t.Errorf("with %q: %v", insecure, err)
			}
			continue
		}
		wantCode(t, err, code, EnvInsecure+"="+named)
	}
}

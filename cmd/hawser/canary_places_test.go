package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testregistry"
)

// encoded is a piece of a text that may be something in base64.
var encoded = regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}`)

// unpacked is a file's or field's text and whatever is in it, packed (gzip, zstd) or in base64, five deep.
func unpacked(data []byte) string { return strings.Join(layers(data, 5), "\n") }

func layers(data []byte, deep int) []string {
	out := []string{string(data)}
	if deep == 0 {
		return out
	}
	if packed, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		inside, _ := io.ReadAll(io.LimitReader(packed, 64<<20))
		out = append(out, layers(inside, deep-1)...)
	}
	if packed, err := zstd.NewReader(bytes.NewReader(data)); err == nil {
		if inside, err := io.ReadAll(io.LimitReader(packed, 64<<20)); err == nil {
			out = append(out, layers(inside, deep-1)...)
		}
		packed.Close()
	}
	for _, piece := range encoded.FindAllString(string(data), -1) {
		for _, in := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if inside, err := in.DecodeString(piece); err == nil {
				out = append(out, layers(inside, deep-1)...)
				break
			}
		}
	}
	return out
}

// Search that does not find is no search: what stands packed in base64 in a packed file is found.
func TestUnpacked(t *testing.T) {
	t.Parallel()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = fmt.Fprintf(w, `{"a": %q}`, base64.StdEncoding.EncodeToString(z.EncodeAll([]byte("this is c4nary-env-1"), nil)))
	_ = w.Close()
	if !anyCanary.MatchString(unpacked(packed.Bytes())) {
		t.Error("a canary in zstd in base64 in gzip is not found")
	}
}

// stored is a Secret of the records.
type stored struct {
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
	}
	Data map[string][]byte
}

// recorded searches everything that is recorded of the bundle on a cluster but the bodies of the objects, which hold values in
// the clear as the objects themselves do, and returns these bodies: parts of one thing are put together and unpacked.
func (s *scene) recorded(cluster string, quiet func(where, text string)) string {
	s.t.Helper()
	var list struct{ Items []stored }
	s.list(cluster, "api/v1/namespaces/"+object.SystemNamespace+"/secrets", &list)
	secrets := map[string]stored{}
	for _, secret := range list.Items {
		if secret.Metadata.Annotations["hawser.dev/bundle"] == s.bundle || secret.Metadata.Labels[object.LabelOwner] == object.OwnerID("", "", s.bundle) {
			secrets[secret.Metadata.Name] = secret
		}
	}
	var bodies strings.Builder
	read := func(names ...string) {
		s.t.Helper()
		var data []byte
		for _, name := range names {
			data = append(data, secrets[name].Data["record"]...)
			delete(secrets, name)
		}
		in, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			s.t.Fatal(err)
		}
		defer in.Close()
		text, err := io.ReadAll(in)
		var doc map[string]any
		if err != nil || json.Unmarshal(text, &doc) != nil {
			s.t.Fatalf("%s holds no record: %v", names, err)
		}
		objects, _ := doc["objects"].([]any)
		for _, o := range objects {
			if m, ok := o.(map[string]any); ok {
				body, _ := json.Marshal(m["body"])
				bodies.Write(body)
				delete(m, "body")
			}
		}
		rest, _ := json.MarshalIndent(doc, "", " ")
		quiet("the record "+names[0]+" in "+cluster, unpacked(rest))
	}
	if len(secrets) == 0 {
		s.t.Fatalf("%s has no record of %s", cluster, s.bundle)
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		secret := secrets[name]
		meta, _ := json.Marshal(secret.Metadata)
		quiet("the Secret "+name, string(meta)+unpacked(secret.Data["index"]))
		var index struct {
			Overflow []string
			Kept     []struct{ Secrets []string }
		}
		if len(secret.Data["index"]) == 0 {
			continue
		}
		if err := json.Unmarshal(secret.Data["index"], &index); err != nil {
			s.t.Fatal(err)
		}
		read(append([]string{name}, index.Overflow...)...)
		for _, k := range index.Kept {
			read(k.Secrets...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) { // made-up values, and what the next write deletes
		read(name)
	}
	return bodies.String()
}

// list reads a list.
func (s *scene) list(cluster, path string, into any) {
	s.t.Helper()
	data, err := s.client(cluster).Get().AbsPath("/" + s.fill(path)).DoRaw(s.t.Context())
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
}

// leftInCluster searches what Hawser leaves in a cluster beside the declared objects' own fields: records, leases, Events, our labels
// and annotations, the names of field managers, and the addresses of its requests since mark.
func (s *scene) leftInCluster(cluster string, quiet func(where, text string)) string {
	s.t.Helper()
	bodies := s.recorded(cluster, quiet)
	for _, path := range []string{"api/v1/namespaces/$NS/events", "api/v1/namespaces/" + object.SystemNamespace + "/events",
		"apis/coordination.k8s.io/v1/namespaces/" + object.SystemNamespace + "/leases"} {
		var list struct{ Items []map[string]any }
		s.list(cluster, path, &list)
		text, _ := json.Marshal(list)
		quiet(path, unpacked(text))
	}
	for _, path := range []string{"api/v1/namespaces/$NS/configmaps", "api/v1/namespaces/$NS/secrets", "apis/batch/v1/namespaces/$NS/cronjobs"} {
		var list struct {
			Items []struct {
				Metadata struct {
					Name, Namespace     string
					Labels, Annotations map[string]string
					ManagedFields       []struct{ Manager string }
				}
			}
		}
		s.list(cluster, path, &list)
		for _, o := range list.Items {
			maps.DeleteFunc(o.Metadata.Annotations, func(key, _ string) bool { return !strings.Contains(key, "hawser.dev") })
			text, _ := json.Marshal(o)
			quiet(path, unpacked(text))
		}
	}
	for _, e := range s.requests(cluster) {
		quiet("the request "+e.Method+" "+e.Path, e.Path+"?"+e.Query+" "+e.UserAgent+" "+e.FieldManager)
	}
	return bodies
}

// watch keeps what comes to be below the scene's directory from now on, files that go again included, until the returned function gives
// it, by name. Temporary files of processes are made there. Files that are there already are known.
func (s *scene) watch() func() map[string]string {
	s.t.Helper()
	temp, kept := filepath.Join(s.dir, "tmp"), s.t.TempDir()
	if err := os.MkdirAll(temp, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "TMPDIR="+temp)
	type file struct{ name, link string }
	var seen []file
	known := map[string]os.FileInfo{}
	look := func(keep bool) {
		_ = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // it has gone meanwhile
			}
			info, err := d.Info()
			if err != nil || os.SameFile(info, known[path]) {
				return nil
			}
			if link := filepath.Join(kept, fmt.Sprint(len(seen))); keep && os.Link(path, link) == nil { // what is unlinked stays readable
				seen = append(seen, file{path, link})
			}
			known[path] = info
			return nil
		})
	}
	look(false)
	over, done := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(2 * time.Millisecond):
				mu.Lock()
				look(true)
				mu.Unlock()
			}
		}
	}()
	// The watch works: a file that comes and goes is known.
	probe := s.write("tmp/probe", "probe")
	eventually(s.t, "a new file is seen", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return known[probe] != nil
	})
	_ = os.Remove(probe)
	return func() map[string]string {
		s.t.Helper()
		close(over)
		<-done
		look(true)
		out := map[string]string{}
		for _, f := range seen {
			data, err := os.ReadFile(f.link)
			if err != nil {
				s.t.Fatal(err)
			}
			rel, _ := filepath.Rel(s.dir, f.name)
			out[filepath.ToSlash(rel)] += string(data)
		}
		if out["tmp/probe"] != "probe" {
			s.t.Error("a file that came and went was not kept")
		}
		return out
	}
}

// Programs that Hawser starts, plug-ins of kubeconfigs and Docker's credential helpers, are given no secret value: not as an
// argument, nor in the environment beside what was in Hawser's own, nor on standard input; what they leave is nothing of it either.
func TestCanariesInChildren(t *testing.T) {
	t.Parallel()
	s := canaryScene(t, canaryErrorFiles)
	one := round(1)
	s.plant(one, canaries{})
	log := filepath.Join(s.dir, "children.log")
	note := "{ echo \"$0 $*\"; tr '\\0' ' ' < /proc/$$/cmdline; env; } >> " + log + " 2>/dev/null\n"
	s.plugin("staging", note+says(s.token("staging")))

	const password = "c4nary-runtime-of-the-registry"
	registry := testregistry.Start(t, testregistry.Options{User: "ada", Password: password})
	helper := s.write("bin/docker-credential-canary", "#!/bin/sh\n"+note+"cat >> "+log+"\necho '{\"Username\": \"ada\", \"Secret\": \""+password+"\"}'\n")
	if err := os.Chmod(helper, 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("docker/config.json", `{"credsStore": "canary"}`)
	s.env = append(s.env, "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"), "DOCKER_CONFIG="+filepath.Join(s.dir, "docker"),
		"HAWSER_CACHE_DIR="+filepath.Join(s.dir, "cache"))
	s.write("extra/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n")
	s.write("chart/templates/all.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: all}\nstringData: {{ .Values | toJson }}\n")
	s.edit("shop.yaml", "    app:\n", "    fetched: {manifests: {url: \""+registry.OCI("extra")+"\", version: 1.0.0}, namespace: $NS}\n    app:\n")
	changed := s.watch()
	s.want(0, "artifact", "push", registry.OCI("extra"), "-f", "extra", "-t", "1.0.0")
	s.mark()
	files := []string{"-f", "shop.yaml", "--fleet", "fleet.yaml"}
	for _, args := range [][]string{{"vet"}, {"lock"}, {"plan", "--full"}, {"plan", "--out", "p.plan"}, {"apply", "-y", "--wait=false", "-o", "json"},
		{"outdated"}, {"plan", "--server-check"}} {
		r := s.run(append(args, files...)...)
		if r.Code != 0 && args[0] != "outdated" {
			t.Errorf("%s: %s", args, r)
		}
		silent(t, strings.Join(args, " "), r.Stdout+r.Stderr, one)
	}
	if got := s.get("staging", "api/v1/namespaces/$NS/secrets/all"); got == nil {
		t.Error("nothing was delivered")
	}
	said := s.read("children.log")
	for _, of := range []string{"plugin-staging", "docker-credential-canary get", registry.Host, "KUBERNETES_EXEC_INFO="} {
		if !strings.Contains(said, of) {
			t.Errorf("%q is not in what the programs noted", of)
		}
	}
	quiet := func(where, text string) {
		t.Helper()
		for _, given := range s.env { // what everybody whom this process starts is given
			text = strings.ReplaceAll(text, given, "")
		}
		silent(t, where, text, one)
	}
	for name, text := range changed() {
		if name != "docker/config.json" {
			quiet("the file "+name, unpacked([]byte(text)))
		}
	}
	if bodies := s.leftInCluster("staging", quiet); !strings.Contains(bodies, base64.StdEncoding.EncodeToString([]byte(one.env))) && !strings.Contains(bodies, one.env) {
		t.Error("the records were not unpacked: the values are not in the objects")
	}
}

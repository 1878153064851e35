//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testserver"
)

// recordedBomb is a cluster in which somebody wrote what write writes, packed, as the record of a bundle ("record") or as the objects of its
// one kept release ("set"), with digests that fit.
func recordedBomb(t *testing.T, part string, write func(io.Writer), args string) bomb {
	t.Helper()
	owner := object.Scoping{}.Owner("shop")
	record := `{"v":1,"bundle":"shop","owner":"` + owner + `","revision":1,"phase":"succeeded","setDigest":"set"}`
	data := map[string][]byte{"record": zstandard(t, repeated(record, " ", "", 0)), "set": zstandard(t, repeated(`{"v":1,"record":`+record+`,"objects":[]}`, " ", "", 0))}
	data[part] = zstandard(t, write)
	if len(data[part]) > 1<<20 {
		t.Fatalf("%d bytes are no bomb", len(data[part]))
	}
	digest := func(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
	index, err := json.Marshal(map[string]any{"v": 1, "write": "w", "digest": digest(data["record"]), "kept": []any{
		map[string]any{"revision": 1, "phase": "succeeded", "set": "set", "digest": digest(data["set"]), "secrets": []string{"hawser-" + owner + "-r1-set-w"}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := testserver.Start(t)
	putRecord(s, owner, data["record"], index, data["set"])
	return bombIn(map[string]string{"shop.yaml": strings.Replace(bombBundle, "name: b", "name: shop", 1)}, args+" --kubeconfig "+s.Kubeconfig(t))
}

// putRecord puts the current record of a bundle, and the one release that is kept of it, where they are in a cluster.
func putRecord(s *testserver.Server, owner string, record, index, set []byte) {
	s.Put("/api/v1/namespaces/hawser-system", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "hawser-system"}})
	for name, holds := range map[string]map[string][]byte{"hawser-" + owner: {"record": record, "index": index}, "hawser-" + owner + "-r1-set-w": {"record": set}} {
		part := map[bool]string{true: "current", false: "set"}[name == "hawser-"+owner]
		encoded := map[string]any{}
		for key, value := range holds {
			encoded[key] = base64.StdEncoding.EncodeToString(value)
		}
		s.Put("/api/v1/namespaces/hawser-system/secrets/"+name, map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "hawser.dev/record", "immutable": part == "set", "data": encoded,
			"metadata": map[string]any{"name": name, "namespace": "hawser-system", "annotations": map[string]any{"hawser.dev/revision": "1"},
				"labels": map[string]any{"hawser.dev/record": part, "hawser.dev/owner": owner, "hawser.dev/bundle": "shop", "app.kubernetes.io/managed-by": "hawser"}}})
	}
}

// zstandard packs what write writes, which is in nobody's memory.
func zstandard(t *testing.T, write func(io.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Bombs in what a cluster keeps of releases: for the commands that read it.
func recordedBombs(t *testing.T) map[string]bomb {
	t.Helper()
	const size = 500 << 20
	head := `{"v":1,"bundle":"shop","owner":"` + object.Scoping{}.Owner("shop") + `","revision":1,"phase":"succeeded","setDigest":"set"`
	records := map[string]func(io.Writer){"entries": repeated(head+`,"inventory":[`, "{},", "{}]}", size/100), "a text": repeated(head+`,"message":"`, "x", `"}`, size)}
	out := map[string]bomb{}
	for _, args := range []string{"status", "history", "history show --bundle shop 1", "apply -f shop.yaml -y", "delete shop -y", "rollback shop --to 1 -y"} {
		for name, write := range records {
			out["recorded: "+name+", "+args] = recordedBomb(t, "record", write, args).says("damaged")
		}
	}
	for _, args := range []string{"history show --bundle shop 1 -o json", "rollback shop --to 1 -y"} {
		out["recorded: objects, "+args] = recordedBomb(t, "set", repeated(`{"v":1,"record":`+head+`},"objects":[`, `{"body":{}},`, `{"body":{}}]}`, size/10), args).says("damaged")
	}
	return out
}

// TestRecordedBombs is TestBombs for what a cluster keeps of releases, which its administrator may write.
func TestRecordedBombs(t *testing.T) {
	t.Parallel()
	for name, c := range recordedBombs(t) {
		t.Run(name, func(t *testing.T) { c.explode(t, "") })
	}
}

// TestChecksOfRecordsTakeNoRun: a health check in a record that takes memory without an end ends a child, also without --isolate: it is given
// up on its cluster, and what the others have is told.
func TestChecksOfRecordsTakeNoRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.env = append(b.env, evaluationLimitEnv+"=30s,300MiB", "GOMEMLIMIT=1GiB")
	up := "#object: _\ncurrent: #object.metadata.name == \"a\"\n"
	large := "import (\"list\", \"strings\")\n#object: _\n_text: strings.Repeat(\"0123456789\", 1_000_000)\n" +
		"big: [for i in list.Range(0, 10000, 1) {\"\\(i) \\(_text)\"}]\ncurrent: len(big) > 3\n"
	fleet := "fleet:\n  apiVersion: v1alpha1\n  name: all\n  clusters:\n"
	owner := object.Scoping{}.Owner("shop")
	for name, check := range map[string]string{"honest": up, "hostile": large} {
		s := testserver.Start(t)
		live := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "a", "namespace": "x"}}
		s.Put("/api/v1/namespaces/x", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "x"}})
		s.Put("/apis/apps/v1/namespaces/x/deployments/a", live)
		record, err := json.Marshal(map[string]any{"v": 1, "bundle": "shop", "owner": owner, "revision": 1, "phase": "succeeded", "setDigest": "set",
			"checks":    map[string]any{"web": []any{map[string]any{"name": "up", "group": "apps", "kind": "Deployment", "source": check}}},
			"inventory": []any{map[string]any{"ref": map[string]any{"group": "apps", "kind": "Deployment", "namespace": "x", "name": "a"}, "version": "v1", "instance": "web", "uid": "u"}}})
		if err != nil {
			t.Fatal(err)
		}
		packed := zstandard(t, repeated(string(record), " ", "", 0))
		index, err := json.Marshal(map[string]any{"v": 1, "write": "w", "digest": fmt.Sprintf("sha256:%x", sha256.Sum256(packed))})
		if err != nil {
			t.Fatal(err)
		}
		putRecord(s, owner, packed, index, nil)
		fleet += fmt.Sprintf("    %s: {kubeconfig: {path: %s}}\n", name, s.Kubeconfig(t))
	}
	b.write("fleet.yaml", fleet)
	r := b.run("status", "shop", "--fleet", "fleet.yaml", "-o", "json")
	t.Log(r)
	for _, text := range []string{"evaluation needs more than 300 MiB", "module's health check up: current"} {
		if !strings.Contains(r.Stdout, text) {
			t.Errorf("it does not say %q: %s", text, r)
		}
	}
}

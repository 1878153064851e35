package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

func TestSaveAndLoad(t *testing.T) {
	dir := Dir(t.TempDir())
	if _, err := dir.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Load() of nothing: %v", err)
	}
	s := &Sandbox{Name: "dev", Created: time.Unix(1, 0).UTC(), Clusters: []Cluster{
		{Name: "1", Group: "no", Port: 1001, FaultPort: 1002}, {Name: "eu", Group: "default", Port: 1003, FaultPort: 1004},
	}}
	if err := dir.SaveFiles(s, Identity{User: "admin", CA: []byte("ca"), Cert: []byte("cert"), Key: []byte("key")}); err != nil {
		t.Fatal(err)
	}
	got, err := dir.Load()
	if err != nil || len(got.Clusters) != 2 || got.Clusters[1] != s.Clusters[1] || !got.Created.Equal(s.Created) {
		t.Errorf("Load() = %+v, %v", got, err)
	}
	entries, err := os.ReadDir(string(dir))
	if err != nil || len(entries) != 4 {
		t.Fatalf("files: %v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}

	cfg, err := clientcmd.LoadFromFile(dir.Kubeconfig())
	if err != nil || cfg.CurrentContext != "1" || cfg.Clusters["eu-fault"].Server != "https://127.0.0.1:1004" || cfg.Contexts["eu"].Cluster != "eu" {
		t.Errorf("kubeconfig: %+v, %v", cfg, err)
	}
	raw, err := os.ReadFile(dir.FleetYAML())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Fleet struct {
			Name     string
			Clusters map[string]struct {
				Group      string
				Kubeconfig struct{ Path, Context string }
			}
		}
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	one := doc.Fleet.Clusters["1"]
	if doc.Fleet.Name != "dev" || one.Group != "no" || one.Kubeconfig.Context != "1" || one.Kubeconfig.Path != dir.Kubeconfig() {
		t.Errorf("fleet.yaml: %+v", doc)
	}
	cue, err := os.ReadFile(dir.FleetCUE())
	if err != nil || !strings.Contains(string(cue), `"1": {group: "no", kubeconfig: {path: "`) {
		t.Errorf("fleet.cue: %s, %v", cue, err)
	}
}

func TestListSkipsOtherFiles(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"b/state.json", "a/state.json", "half/kubeconfig", ".a.log"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := List(root)
	if err != nil || strings.Join(got, " ") != "a b" {
		t.Errorf("List() = %v, %v", got, err)
	}
	if got, err := List(filepath.Join(root, "nowhere")); err != nil || got != nil {
		t.Errorf("List() of nothing = %v, %v", got, err)
	}
}

func TestSocketsHaveShortPaths(t *testing.T) {
	long := Dir("/" + strings.Repeat("x", 200))
	for _, d := range []Dir{"/short", long} {
		for _, path := range []string{d.ControlSocket(), d.EtcdSocket(), d.EtcdPeerSocket()} {
			if len(path) > 103 {
				t.Errorf("%s is too long for a socket", path)
			}
		}
	}
	if long.SocketDir() == Dir(string(long)+"y").SocketDir() {
		t.Error("two sandboxes share their sockets")
	}
}

func TestMakeSocketDirRefusesAnOpenOne(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "open"))
	if err := os.Mkdir(string(d), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.MakeSocketDir(); err == nil && d.SocketDir() == string(d) {
		t.Error("a directory that others can enter was taken")
	}
}

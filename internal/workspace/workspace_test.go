package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/planfile"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"
)

const (
	bundleFile = "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n    web: {namespace: web, manifests: {paths: [./m]}}\n"
	fleetFile  = "fleet:\n  apiVersion: v1alpha1\n  name: prod\n  clusters:\n    eu: {kubeContext: eu}\n    us: {kubeContext: us}\n"
)

// open writes the files into a new directory and opens them.
func open(t *testing.T, files map[string]string, in Files, want input.Want) (*input.Documents, string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in.Workdir = dir
	for _, list := range [][]string{in.Files, in.FleetFiles} {
		for i, name := range list {
			if name != "-" {
				list[i] = filepath.Join(dir, name)
			}
		}
	}
	w, err := in.Open(t.Context(), want)
	return w, dir, err
}

// A bundle that is named without files is what the hawser.lock of the directory says of it, else that beside the fleet's files; who reads
// the files has it from there, and one that knows no such bundle, or is none, says nothing.
func TestNearby(t *testing.T) {
	t.Parallel()
	lock := func(dir, id string) {
		if err := lockfile.Keep(filepath.Join(dir, lockfile.Name), lockfile.News{Lineages: map[string]string{"shop": id}}); err != nil {
			t.Fatal(err)
		}
	}
	fleetDir, here := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fleet, bundle := write(fleetDir, "f.yaml", fleetFile), write(here, "b.yaml", bundleFile)
	id := func(files ...string) string {
		w, err := (&Files{Paths: fleetplan.Paths{Files: files, FleetFiles: []string{fleet}, Workdir: here}, Dir: here}).Open(t.Context(), input.Want{})
		if err != nil {
			t.Fatal(err)
		}
		from := w.Origin("shop")
		if from.Here == nil {
			return ""
		}
		if from.Here.Fleet != "prod" || from.Here.Source.Path == "" || from.ID != "" {
			t.Errorf("%+v", from.Here)
		}
		return from.Here.ID
	}
	if got := id(); got != "" {
		t.Errorf("no lock: %q", got)
	}
	lock(fleetDir, "of-fleet")
	if got := id(); got != "of-fleet" {
		t.Errorf("beside the fleet: %q", got)
	}
	lock(here, "of-here")
	if got := id(); got != "of-here" {
		t.Errorf("in the directory: %q", got)
	}
	if got := id(bundle); got != "" {
		t.Errorf("with files: %q", got)
	}
	write(here, lockfile.Name, "<<<<<<< mine\n")
	if got := id(); got != "of-fleet" {
		t.Errorf("one that is none: %q", got)
	}
}

// What a run learned is there for the next one, and what another run wrote meanwhile stays.
func TestLearnsAndKnows(t *testing.T) {
	w, dir, err := open(t, map[string]string{"b.yaml": bundleFile, "f.yaml": fleetFile}, Files{Paths: fleetplan.Paths{Files: []string{"b.yaml"}, FleetFiles: []string{"f.yaml"}}}, input.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Path != filepath.Join(dir, lockfile.Name) || w.From.Fleet != "prod" || w.Origin("shop").ID != "" || w.Known("eu") != (fleet.Identity{}) {
		t.Errorf("%+v", w)
	}
	w.Promise("shop", "id-1")
	other, err := (&Files{Paths: fleetplan.Paths{Files: []string{filepath.Join(dir, "b.yaml")}, FleetFiles: []string{filepath.Join(dir, "f.yaml")}, Workdir: dir}}).Open(t.Context(), input.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if got := other.Origin("shop").ID; got != "id-1" {
		t.Errorf("the lineage that was promised is %q", got)
	}
	if err := w.Learn(lockfile.News{Fleet: "prod", UIDs: map[string]string{"eu": "u1"}}); err != nil {
		t.Fatal(err)
	}
	if err := other.Learn(lockfile.News{Fleet: "prod", Servers: map[string]string{"us": "s1"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.KeepPlaces(func(f lockfile.File) bool {
		f.Places["prod"] = map[string]lockfile.Place{"eu": w.Place(fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", KubeContext: "eu"}}, "")}
		p := f.Places["prod"]["eu"]
		p.Bundles = []string{"shop"}
		f.Places["prod"]["eu"] = p
		return true
	}); err != nil {
		t.Fatal(err)
	}
	again, err := (&Files{Paths: fleetplan.Paths{Files: []string{filepath.Join(dir, "b.yaml")}, FleetFiles: []string{filepath.Join(dir, "f.yaml")}, Workdir: dir}}).Open(t.Context(), input.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Known("eu").UID != "u1" || again.Known("us").Server != "s1" || again.Origin("shop").ID != "id-1" || !again.Delivered("eu", "shop") || again.Delivered("us", "shop") {
		t.Errorf("%+v", again.Lock)
	}
	if err := again.Forget("eu"); err != nil {
		t.Fatal(err)
	}
	if f, err := lockfile.Read(w.Path); err != nil || f.UID("prod", "eu") != "" || f.Server("prod", "us") != "s1" {
		t.Errorf("%+v, %v", f, err)
	}
}

// Documents from standard input have no place for what is learned: it is no error, and pinning is one.
func TestNoPlace(t *testing.T) {
	w, _, err := open(t, nil, Files{Paths: fleetplan.Paths{Files: []string{"-"}}, Stdin: strings.NewReader(bundleFile)}, input.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Once == "" {
		t.Error("standard input could be read again by a saved plan")
	}
	w.Promise("shop", "id-1")
	if err := w.Learn(lockfile.News{Lineages: map[string]string{"shop": "id-1"}}); err != nil {
		t.Error(err)
	}
	if err := w.KeepPlaces(func(lockfile.File) bool { t.Error("kept without a file"); return true }); err != nil {
		t.Error(err)
	}
	if _, err := w.Pin(t.Context(), nil, &source.Resolver{}, nil); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("pinned: %v", err)
	}
}

// The bundle's files stay unread where only the fleet is wanted; without a fleet they are read for one of their own.
func TestFleetOnly(t *testing.T) {
	files := map[string]string{"b.yaml": "bundle: [", "f.yaml": fleetFile}
	w, dir, err := open(t, files, Files{Paths: fleetplan.Paths{Files: []string{"b.yaml"}, FleetFiles: []string{"f.yaml"}}}, input.Want{FleetOnly: true})
	if err != nil || w.Fleet() == nil || w.Path != filepath.Join(dir, lockfile.Name) {
		t.Errorf("%+v, %v", w, err)
	}
	if _, _, err := open(t, files, Files{Paths: fleetplan.Paths{Files: []string{"b.yaml"}}}, input.Want{FleetOnly: true}); err == nil {
		t.Error("a broken bundle was not read")
	}
}

// What cannot be evaluated is an error where the cluster is needed, and what there is of it elsewhere.
func TestDeclared(t *testing.T) {
	text := "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n    web: {namespace: web, helm: {chart: {$cluster: labels.zone}}}\n"
	w, _, err := open(t, map[string]string{"b.yaml": text}, Files{Paths: fleetplan.Paths{Files: []string{"b.yaml"}}}, input.Want{})
	if err != nil {
		t.Fatal(err)
	}
	clusters := []fleet.Cluster{{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", Labels: map[string]string{"zone": "./chart"}}}, {ClusterSpec: v1alpha1.ClusterSpec{Name: "us"}}}
	facts := func(c fleet.Cluster) fleet.Facts { return c.Facts(nil) }
	specs, err := w.Declared("", clusters, func(name string) bool { return name == "eu" }, facts)
	if err != nil || len(specs) != 2 || specs[0].Instances[0].Helm.Chart != "./chart" {
		t.Errorf("%+v, %v", specs, err)
	}
	if specs, err := w.Declared("other", clusters[:1], func(string) bool { return true }, facts); err != nil || len(specs) != 0 {
		t.Errorf("of another name: %+v, %v", specs, err)
	}
	if _, err := w.Declared("", clusters, func(string) bool { return true }, facts); err == nil || !strings.Contains(err.Error(), "us") {
		t.Errorf("for both: %v", err)
	}
}

// Standard input that is kept in memory is there for every run; what is known beforehand is whether there are bundles.
func TestStdinAgain(t *testing.T) {
	f := &Files{Paths: fleetplan.Paths{Files: []string{"-"}}, Stdin: strings.NewReader(bundleFile)}
	for range 2 {
		if d, err := f.Open(t.Context(), input.Want{}); err != nil || len(d.Program.Bundles()) != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	if !f.HasBundles() || (&Files{Paths: fleetplan.Paths{FleetFiles: []string{"f.yaml"}}}).HasBundles() {
		t.Error("which of them have bundles?")
	}
}

// The files of a saved plan are read from where it is applied, unless they changed; of a plan that nothing vouches for none outside of
// the repository is looked at.
func TestSaved(t *testing.T) {
	_, dir, err := open(t, map[string]string{"b.yaml": bundleFile, ".git": ""}, Files{}, input.Want{})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(bundleFile))
	saved := func(name string) fleetplan.Decided {
		return fleetplan.Decided{Paths: fleetplan.Paths{Files: []string{name}}, Inputs: planfile.NewInputs("", map[string]string{name: "sha256:" + hex.EncodeToString(sum[:])}, nil)}
	}
	away := filepath.Join(t.TempDir(), "b.yaml")
	if err := os.WriteFile(away, []byte(bundleFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file  string
		sound bool
		want  string
	}{
		"sound": {"b.yaml", true, ""}, "unsealed": {"b.yaml", false, ""}, "gone": {"c.yaml", true, "not here: c.yaml"},
		"sound, elsewhere": {away, true, ""}, "unsealed, elsewhere": {away, false, "outside of the repository"},
	} {
		source, findings := (&Files{Dir: dir}).Saved(saved(c.file), c.sound)
		if got := findings.Whats(); (c.want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, " "), c.want) {
			t.Errorf("%s: %q", name, got)
		}
		if f := source.(*Files); f.Dir != dir || f.Files[0] != c.file {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A run knows whether what it read is what its commit has: its documents, what its instances are made of, and files of values.
func TestTree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here, which this test makes a repository with")
	}
	w, dir, err := open(t, map[string]string{"b.yaml": bundleFile, "f.yaml": fleetFile, "v.yaml": "a: 1\n", "other": "x"}, Files{Paths: fleetplan.Paths{Files: []string{"b.yaml"}, FleetFiles: []string{"f.yaml"}}}, input.Want{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "m"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("m/a.yaml", "kind: A\n")
	values, read := map[string]string{filepath.Join(dir, "v.yaml"): "sha256:x"}, []string{filepath.Join(dir, "m")}
	opened := func(fleet string) (*input.Documents, error) {
		return (&Files{Paths: fleetplan.Paths{Files: []string{filepath.Join(dir, "b.yaml")}, FleetFiles: []string{fleet}, Workdir: dir}}).Open(t.Context(), input.Want{})
	}
	if got := w.Tree(values, read); got != "" {
		t.Errorf("without a commit: %q", got)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "one"}} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if w, err = opened(filepath.Join(dir, "f.yaml")); err != nil {
		t.Fatal(err)
	}
	apart := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(apart, []byte(fleetFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if elsewhere, err := opened(apart); err != nil || elsewhere.Tree(nil, nil) != release.Clean {
		t.Errorf("a fleet in no repository: %v", err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"", "", release.Clean}, {"other", "y", release.Clean}, {"b.yaml", bundleFile + "# \n", release.Dirty}, {"b.yaml", bundleFile, release.Clean},
		{"f.yaml", fleetFile + "\n", release.Dirty}, {"f.yaml", fleetFile, release.Clean}, {"v.yaml", "a: 2\n", release.Dirty}, {"v.yaml", "a: 1\n", release.Clean},
		{"m/b.yaml", "new", release.Dirty},
	} {
		if c.name != "" {
			write(c.name, c.text)
		}
		if got := w.Tree(values, read); got != c.want {
			t.Errorf("%s is %q: %s, want %s", c.name, c.text, got, c.want)
		}
	}
}

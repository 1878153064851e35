package document

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

var (
	storeKinds = []string{"env", "file", "sops", "kube"}
	storeLater = []string{"vault", "aws", "gcp", "azure", "alicloud"}
)

// secretStores reads the stores of a fleet by name; each is of exactly one kind.
func (d *decoder) secretStores(v cue.Value) map[string]v1alpha1.SecretStore {
	fields, ok := d.anyFields(v)
	if !ok {
		return nil
	}
	out := make(map[string]v1alpha1.SecretStore, len(fields))
	for _, f := range fields {
		d.name(f.value, "the name of a secret store", f.name)
		out[f.name] = d.secretStore(f.value)
	}
	return out
}

func (d *decoder) secretStore(v cue.Value) v1alpha1.SecretStore {
	out := v1alpha1.SecretStore{Pos: d.apiPos(v)}
	if !d.is(v, cue.StructKind, "a struct") {
		return out
	}
	have := slices.DeleteFunc(slices.Concat(storeKinds, storeLater), func(kind string) bool {
		_, ok := lookup(v, kind)
		return !ok
	})
	fields, _ := d.anyFields(v)
	for _, f := range d.fields(v, storeKinds, storeLater...) {
		switch f.name {
		case "env":
			out.Env = &v1alpha1.EnvStore{Prefix: d.storeFields(f.value, "prefix")["prefix"]}
		case "file":
			got := d.storeFields(f.value, "path!")
			out.File = &v1alpha1.FileStore{Path: got["path"], Dir: d.storeDir(f.value)}
		case "sops":
			out.SOPS = d.sopsStore(f.value)
		case "kube":
			got := d.storeFields(f.value, "namespace!")
			out.Kube = &v1alpha1.KubeStore{Namespace: got["namespace"]}
			if at, ok := lookup(f.value, "namespace"); ok {
				d.namespace(at)
			}
		}
	}
	switch {
	case len(have) == 0 && len(fields) == 0:
		n := diag.Errorf("no-store", "nothing says what kind of store it is")
		n.Fix = "give it one of: " + strings.Join(storeKinds, ", ")
		d.add(n, v)
	case len(have) > 1:
		d.errorf(v, "two-stores", "a secret store is of exactly one kind, this one has %s", strings.Join(have, " and "))
	}
	return out
}

func (d *decoder) sopsStore(v cue.Value) *v1alpha1.SOPSStore {
	out := &v1alpha1.SOPSStore{Dir: d.storeDir(v)}
	for _, f := range d.fields(v, []string{"path", "age"}) {
		switch f.name {
		case "path":
			out.Path = d.storeText(f)
		case "age":
			got := d.storeFields(f.value, "keyFile", "keyEnv")
			out.Age = v1alpha1.AgeKeys{KeyFile: got["keyFile"], KeyEnv: got["keyEnv"]}
			if out.Age.KeyFile != "" && out.Age.KeyEnv != "" {
				d.errorf(f.value, "two-keys", "age has keyFile or keyEnv, not both")
			}
		}
	}
	return out
}

// storeFields reads the texts of a store; a name with ! at its end is required.
func (d *decoder) storeFields(v cue.Value, names ...string) map[string]string {
	known := make([]string, len(names))
	for i, name := range names {
		known[i] = strings.TrimSuffix(name, "!")
	}
	out := map[string]string{}
	for _, f := range d.fields(v, known) {
		out[f.name] = d.storeText(f)
	}
	if !d.is(v, cue.StructKind, "a struct") {
		return out
	}
	for i, name := range names {
		if _, ok := out[known[i]]; !ok && name != known[i] {
			d.require(v, known[i])
		}
	}
	return out
}

// storeText is a text that is not empty; directories may not be relative to standard input.
func (d *decoder) storeText(f field) string {
	s, ok := d.str(f.value)
	switch {
	case !ok:
	case s == "" && f.name != "prefix":
		d.errorf(f.value, "invalid-store", "%s is empty", f.name)
	case f.name == "path":
		d.place(f.value, s, "path", "write an absolute path, or give the fleet as a file")
	}
	return s
}

// storeDir is the directory a store's relative paths start at: that of the file that holds the path, or the store.
func (d *decoder) storeDir(v cue.Value) string {
	if path, ok := lookup(v, "path"); ok {
		return d.dir(path)
	}
	return d.dir(v)
}

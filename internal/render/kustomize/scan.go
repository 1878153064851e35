package kustomize

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// names a kustomization's file may have, as the library looks for them.
var names = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// Fields of a kustomization that name files or directories.
var (
	fieldsOfFiles  = []string{"crds", "configurations"}
	fieldsOfEither = []string{"resources", "bases", "components"}
	fieldsOfRules  = []string{"generators", "transformers", "validators"}
	fieldsOfHelm   = []string{"helmCharts", "helmGlobals", "helmChartInflationGenerator"}
)

// deprecated are the fields that the library warns of, and what takes their place.
var deprecated = map[string]string{"bases": "resources", "commonLabels": "labels", "imageTags": "images", "patchesJson6902": "patches",
	"patchesStrategicMerge": "patches", "vars": "replacements"}

// kustomize follows the kustomization in a directory below the root; at is where it is named.
func (c *collector) kustomize(dir string, at diag.Pos) {
	key := fmt.Sprint(dir, " ", c.plain)
	if cost, ok := c.seen[key]; ok || c.ctx.Err() != nil {
		c.spend(cost, at)
		return
	}
	outer := c.cost
	c.seen[key], c.cost = cost{}, cost{builds: 1}
	c.follow(dir, at)
	own := c.cost
	c.seen[key], c.cost = own, outer
	c.spend(own, at)
}

// spend counts what building something costs, each time that it is named: the library builds it as often.
func (c *collector) spend(more cost, at diag.Pos) {
	before := c.cost
	c.cost.builds = min(c.cost.builds+more.builds, maxKustomizations+1)
	c.cost.bytes = min(c.cost.bytes+more.bytes, c.limits.OutputBytes+1)
	switch {
	case c.tooCostly || before == c.cost:
	case c.cost.builds > maxKustomizations:
		c.tooCostly = true
		c.find(at, "too-many", fmt.Sprintf("more than %d kustomizations, each counted as often as it is named", maxKustomizations), "")
	case c.cost.bytes > c.limits.OutputBytes:
		c.tooCostly = true
		c.find(at, "too-large", fmt.Sprintf("the kustomization reads more than %d MiB, each file counted as often as it is named", c.limits.OutputBytes>>20), "")
	}
}

// follow reads the one kustomization of a directory.
func (c *collector) follow(dir string, at diag.Pos) {
	file := ""
	for _, n := range names {
		if isDir, err := c.isDir(path.Join(dir, n)); err == nil && !isDir {
			if file != "" {
				c.find(at, "two-kustomizations", fmt.Sprintf("%s holds %s and %s", c.shown(dir), file, n), "remove one of them")
				return
			}
			file = n
		}
	}
	if file == "" {
		c.find(at, "no-kustomization", fmt.Sprintf("%s holds no %s", c.shown(dir), names[0]), c.below(dir))
		return
	}
	full := path.Join(dir, file)
	text, ok := c.file(full, c.shown(full), at)
	if !ok {
		return
	}
	c.kustomizations = append(c.kustomizations, kustomization{dir: dir, file: full})
	for _, doc := range c.documents(full, text) {
		c.kustomization(dir, full, doc)
	}
}

// mostBelow is how many directories with a kustomization are named.
const mostBelow = 12

// below says which directories below one hold a kustomization, two levels deep; "" where none does, or very many.
func (c *collector) below(dir string) string {
	var found []string
	level := []string{dir}
	for range 2 {
		var next []string
		for _, d := range level {
			entries, _ := c.within.ReadDir(d)
			for _, e := range entries[:min(len(entries), mostBelow*mostBelow)] {
				if sub := path.Join(d, e.Name()); e.IsDir() && e.Name() != ".git" {
					next = append(next, sub)
				}
			}
		}
		for _, d := range next {
			if slices.ContainsFunc(names, func(n string) bool { isDir, err := c.isDir(path.Join(d, n)); return err == nil && !isDir }) {
				found = append(found, c.shown(d))
			}
		}
		level = next[:min(len(next), mostBelow*mostBelow)]
	}
	if len(found) == 0 || len(found) > mostBelow {
		return ""
	}
	return "name the directory of one: " + strings.Join(found, ", ")
}

// documents are the YAML documents of a file that are maps; what is no YAML is said.
func (c *collector) documents(full string, text []byte) []*yaml.Node {
	shown := c.shown(full)
	if fs := cuelang.CheckText(shown, text); fs.HasErrors() {
		c.found = append(c.found, fs...)
		return nil
	}
	docs, err := documents(text)
	if err != nil {
		line := min(lineOf(err), bytes.Count(bytes.TrimSpace(text), []byte("\n"))+1)
		_, said, _ := strings.Cut(": "+cuelang.YAMLFault(err.Error()), fmt.Sprintf(": line %d: ", lineOf(err)))
		c.find(diag.Pos{File: shown, Line: line}, "yaml", "not valid YAML: "+cmp.Or(said, cuelang.YAMLFault(err.Error())), "")
	}
	for _, doc := range docs {
		c.inline(doc, func(n *yaml.Node) diag.Pos { return diag.Pos{File: shown, Line: n.Line, Column: n.Column} })
	}
	return docs
}

// inline checks the texts of a document that are YAML themselves, such as patches; at is where a node stands.
func (c *collector) inline(n *yaml.Node, at func(*yaml.Node) diag.Pos) {
	if n.Kind == yaml.ScalarNode {
		for _, f := range cuelang.CheckAliases("-", []byte(n.Value)) {
			c.find(at(n), f.Code, f.What, f.Fix)
		}
	}
	for _, child := range n.Content {
		c.inline(child, at)
	}
}

func documents(text []byte) (docs []*yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the YAML library, on hostile input
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, err
		}
		if n.Kind == yaml.DocumentNode && len(n.Content) == 1 && n.Content[0].Kind == yaml.MappingNode {
			docs = append(docs, n.Content[0])
		}
	}
}

var yamlLine = lazyregexp.New(`line (\d+)`)

func lineOf(err error) int {
	line := 1
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscan(m[1], &line)
	}
	return cuelang.YAMLLine(line, err.Error())
}

// kustomization follows one kustomization's fields.
func (c *collector) kustomization(dir, file string, doc *yaml.Node) {
	at := func(n *yaml.Node) diag.Pos { return diag.Pos{File: c.shown(file), Line: n.Line, Column: n.Column} }
	for key, value := range fields(doc) {
		if instead := deprecated[key.Value]; instead != "" && value.Tag != "!!null" {
			f := diag.Warnf("kustomize-deprecated", "%s of a kustomization is deprecated", key.Value)
			f.Pos, f.Path, f.Fix = at(key), key.Value, "write "+instead+" instead: kustomize edit fix does it"
			c.notes = append(c.notes, f)
		}
		switch {
		case is(key, "<<"):
			c.find(at(key), "merge-key", "a kustomization is not merged from other maps", "write its fields out")
		case c.plain && !is(key, "resources", "apiVersion", "kind", "metadata"):
			c.find(at(key), "generated-rules", key.Value+": generators, transformers and validators are taken as they are written",
				"name their files directly")
		case is(key, fieldsOfHelm...):
			c.find(at(key), "helm-in-kustomize", key.Value+": charts are not rendered inside a kustomization",
				"make the chart an instance of its own, with helm as its source")
		case is(key, fieldsOfFiles...):
			for _, n := range scalars(value) {
				c.reads(dir, n.Value, at(n), false)
			}
		case is(key, fieldsOfEither...):
			for _, n := range scalars(value) {
				c.reads(dir, n.Value, at(n), true)
			}
		case is(key, fieldsOfRules...):
			for _, n := range scalars(value) {
				c.rules(dir, file, n)
			}
		case is(key, "patchesStrategicMerge"):
			for _, n := range scalars(value) {
				if !strings.ContainsAny(n.Value, "\n{") { // else the patch itself
					c.reads(dir, n.Value, at(n), false)
				}
			}
		case is(key, "patches", "patchesJson6902", "replacements"):
			for _, item := range value.Content {
				c.named(dir, file, item, "path")
			}
		case is(key, "configMapGenerator", "secretGenerator"):
			for _, item := range value.Content {
				c.named(dir, file, item, "files", "envs", "env")
				if is(key, "secretGenerator") {
					c.secrets(dir, item)
				}
			}
		case is(key, "openapi"):
			c.schema = true
			c.named(dir, file, value, "path")
		case !is(key, known()...):
			f := diag.Errorf("unknown-field", "a kustomization has no field %q", key.Value)
			f.Pos, f.Fix = at(key), diag.DidYouMean(key.Value, known())
			c.found = append(c.found, f)
		}
	}
}

// known are the names of all fields of a kustomization.
var known = sync.OnceValue(func() []string {
	out := []string{"apiVersion", "kind"}
	for f := range reflect.TypeFor[types.Kustomization]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			out = append(out, name)
		}
	}
	return out
})

// named reads the files that some fields of a map name; files of generators may be written KEY=PATH.
func (c *collector) named(dir, file string, m *yaml.Node, keys ...string) {
	for key, value := range fields(m) {
		if is(key, "<<") {
			c.find(diag.Pos{File: c.shown(file), Line: key.Line, Column: key.Column}, "merge-key",
				"a kustomization is not merged from other maps", "write its fields out")
		}
		if !is(key, keys...) {
			continue
		}
		for _, n := range scalars(value) {
			name := n.Value
			if _, after, ok := strings.Cut(name, "="); ok && is(key, "files") {
				name = after
			}
			if name != "" {
				c.reads(dir, name, diag.Pos{File: c.shown(file), Line: n.Line, Column: n.Column}, false)
			}
			if is(key, "envs", "env") {
				c.whole(path.Join(dir, name))
			}
		}
	}
}

// reads reads a file, or with dirs follows the kustomization of a directory.
func (c *collector) reads(dir, name string, at diag.Pos, dirs bool) {
	if remote(name) {
		c.find(at, "remote-resource", name+" would have to be fetched",
			"keep a copy beside the kustomization; for what is really a local path write ./"+strings.TrimLeft(name, "./"))
		return
	}
	full, ok := c.resolve(dir, name, at)
	if !ok {
		return
	}
	isDir, err := c.isDir(full)
	switch {
	case err != nil:
		c.find(at, "no-file", fmt.Sprintf("%s: %s", name, reason(err)), "")
	case isDir && dirs:
		c.kustomize(full, at)
	case isDir:
		c.find(at, "no-file", name+" is a directory", "name a file")
	default:
		text, _ := c.file(full, name, at)
		c.spend(cost{bytes: len(text)}, at)
	}
}

// host is a first path segment that the library takes for a git server.
var host = lazyregexp.New(`^[^/.]+\.[^/]+/`)

// remote reports whether the library would fetch what a path names, whether or not there is something of that name.
func remote(name string) bool {
	return strings.Contains(name, "://") || strings.Contains(name, "?") || strings.Contains(name, "@") ||
		strings.HasPrefix(name, "git::") || strings.HasPrefix(name, "gh:") || strings.Contains(name, "_git/") ||
		strings.Contains(name, ".git/") || strings.HasSuffix(name, ".git") || host.MatchString(name)
}

// rules follows a generator, transformer or validator: inline, a file, or a directory with a kustomization. Only those
// built into kustomize run.
func (c *collector) rules(dir, file string, n *yaml.Node) {
	at := diag.Pos{File: c.shown(file), Line: n.Line, Column: n.Column}
	if strings.ContainsAny(n.Value, "\n{") {
		docs, err := documents([]byte(n.Value))
		if err != nil {
			c.find(at, "yaml", "not valid YAML: "+cuelang.YAMLFault(err.Error()), "")
		}
		for _, doc := range docs {
			c.inline(doc, func(*yaml.Node) diag.Pos { return at })
			c.rule(dir, file, doc, at)
		}
		return
	}
	outer := c.plain
	c.plain = true
	c.reads(dir, n.Value, at, true)
	c.plain = outer
	full := path.Join(dir, n.Value)
	if text, ok := c.files[full]; ok {
		for _, doc := range c.documents(full, text) {
			c.rule(dir, full, doc, diag.Pos{File: c.shown(full), Line: doc.Line})
		}
		return
	}
	// A directory's kustomization makes the rules: its resources are read here, whatever they become.
	for name, text := range c.files {
		if strings.HasPrefix(name, full+"/") {
			for _, doc := range c.documents(name, text) {
				if kind := scalar(doc, "kind"); kind != "" && kind != "Kustomization" && kind != "Component" {
					c.rule(dir, name, doc, diag.Pos{File: c.shown(name), Line: doc.Line})
				}
			}
		}
	}
}

// rule checks the configuration of one generator, transformer or validator.
func (c *collector) rule(dir, file string, doc *yaml.Node, at diag.Pos) {
	kind, version := scalar(doc, "kind"), scalar(doc, "apiVersion")
	fix := "only what is built into kustomize runs; make the objects beforehand, or as a module or a chart"
	switch {
	case kind == "HelmChartInflationGenerator":
		c.find(at, "helm-in-kustomize", kind+": charts are not rendered inside a kustomization",
			"make the chart an instance of its own, with helm as its source")
		return
	case version != "builtin":
		c.find(at, "plug-in", fmt.Sprintf("%s of %s is a plug-in, and none is run", kind, version), fix)
		return
	}
	for key, value := range fields(doc) {
		if is(key, "metadata") {
			for k, annotations := range fields(value) {
				if is(k, "annotations") && slices.ContainsFunc(annotations.Content, func(n *yaml.Node) bool {
					return strings.HasPrefix(n.Value, "config.kubernetes.io/function")
				}) {
					c.find(at, "plug-in", kind+" is a function, and none is run", fix)
				}
			}
		}
	}
	c.named(dir, file, doc, "path", "paths", "files", "envs", "env")
	if kind == "SecretGenerator" {
		c.secrets(dir, doc)
	}
	for key, value := range fields(doc) {
		if is(key, "replacements") {
			for _, item := range value.Content {
				c.named(dir, file, item, "path")
			}
		}
	}
}

// fields are the keys and values of a map; nothing for anything else.
func fields(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n = resolved(n); n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], resolved(n.Content[i+1])) {
				return
			}
		}
	}
}

// is reports whether a key names one of the fields: JSON's decoder, which the library uses, does not mind letter case.
func is(key *yaml.Node, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, key.Value) })
}

// scalars are a scalar, or the scalars of a list.
func scalars(n *yaml.Node) []*yaml.Node {
	n = resolved(n)
	switch n.Kind {
	case yaml.ScalarNode:
		return []*yaml.Node{n}
	case yaml.SequenceNode:
		var out []*yaml.Node
		for _, item := range n.Content {
			if item = resolved(item); item.Kind == yaml.ScalarNode {
				out = append(out, item)
			}
		}
		return out
	}
	return nil
}

// scalar is the text of a field.
func scalar(doc *yaml.Node, name string) string {
	for key, value := range fields(doc) {
		if is(key, name) && value.Kind == yaml.ScalarNode {
			return value.Value
		}
	}
	return ""
}

// resolved follows an alias.
func resolved(n *yaml.Node) *yaml.Node {
	for range 10 {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

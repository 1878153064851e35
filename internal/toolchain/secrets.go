package toolchain

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/outdir"
	"hawser.dev/hawser/internal/rootfs"
)

// maxManifest is the size up to which a file is looked into for Secrets.
const maxManifest = 16 << 20

// secretsIn names those of the files below a directory that hold a Secret with values in clear: not what SOPS encrypted, nor a
// Secret without values; and those into which a build of ours wrote values of a store, as it noted beside them. credentials are
// the others that look like somebody's credentials.
func secretsIn(root string, files []string) (out, credentials []string, err error) {
	noted := map[string]bool{}
	dirs := map[string]bool{}
	for _, name := range files {
		for dir := path.Dir(name); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
			data, err := rootfs.Read(root, path.Join(dir, outdir.Name), maxManifest)
			if err != nil {
				continue
			}
			if built, err := outdir.Parse(data); err == nil {
				for file, is := range built.Files {
					noted[path.Join(dir, file)] = is.Digest == ""
				}
			}
		}
	}
	for _, name := range files {
		data, err := fs.ReadFile(rootfs.FS{Root: root, Limit: maxManifest}, name)
		switch manifest := manifestName.MatchString(name); {
		case err != nil && manifest:
			return nil, nil, failure("unreadable", strconv.Quote(name)+" cannot be looked into for Secrets: "+err.Error(), "")
		case noted[name], err == nil && holdsSecret(data, manifest):
			out = append(out, name)
		case holdsCredentials(name, data, err == nil):
			credentials = append(credentials, name)
		}
	}
	return out, credentials, nil
}

var (
	// manifestName is what files with manifests are called, also copies and templates of them.
	manifestName = lazyregexp.New(`(?i)\.(?:ya?ml|json)(?:$|[.~_-])`)
	// secretKind and secretData tell a Secret in a text that cannot be read.
	secretKind = lazyregexp.New(`["']?kind["']?\s*:\s*["']?Secret(?:List)?\b`)
	secretData = lazyregexp.New(`["']?(?:data|stringData)["']?\s*:`)
	// expression is one of a template.
	expression = lazyregexp.New(`\{\{.*?\}\}`)
)

// holdsSecret reports whether one of the documents of a file is a Secret with values in clear. What is no text of documents to its
// end and looks like one counts when the file is called like a manifest; a template counts with what it writes itself.
func holdsSecret(data []byte, manifest bool) bool {
	data = fromUTF16(data)
	if !bytes.Contains(data, []byte("Secret")) {
		return false
	}
	found, whole := secretDocument(data)
	if found || whole {
		return found
	}
	if plain := expression.ReplaceAll(data, nil); len(plain) < len(data) {
		found, _ = secretDocument(plain)
		return found
	}
	return manifest && secretKind.Match(data) && secretData.Match(data)
}

// secretDocument reports whether one of the documents of a text is a Secret with values in clear, and whether all of it could
// be read: YAML, or JSON documents one after the other.
func secretDocument(data []byte) (found, whole bool) {
	if text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); len(text) > 0 && text[0] == '{' {
		for docs := json.NewDecoder(bytes.NewReader(text)); ; {
			var raw json.RawMessage
			if err := docs.Decode(&raw); errors.Is(err, io.EOF) {
				return false, true
			} else if err != nil {
				break // a flow mapping of YAML, perhaps
			}
			var doc yaml.Node
			if err := yaml.Unmarshal(raw, &doc); err == nil && len(doc.Content) == 1 && isSecret(doc.Content[0], "", "", maxNesting) {
				return true, true
			}
		}
	}
	for docs := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		if err := docs.Decode(&doc); err != nil {
			return false, errors.Is(err, io.EOF)
		}
		if len(doc.Content) == 1 && isSecret(doc.Content[0], "", "", maxNesting) {
			return true, true
		}
	}
}

// maxNesting bounds lists in lists.
const maxNesting = 8

// lastApplied is where kubectl keeps a copy of a whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// fields are those of a mapping by name, merged ones and what aliases stand for included; nil for anything else.
func fields(n *yaml.Node) map[string]*yaml.Node {
	return fieldsOnce(n, map[*yaml.Node]bool{})
}

// fieldsOnce are the fields of a mapping, of which each node is merged once.
func fieldsOnce(n *yaml.Node, seen map[*yaml.Node]bool) map[string]*yaml.Node {
	if n = meant(n); n == nil || n.Kind != yaml.MappingNode || seen[n] {
		return nil
	}
	seen[n] = true
	out := map[string]*yaml.Node{}
	var more []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := meant(n.Content[i+1])
		switch {
		case n.Content[i].Value != "<<":
			out[n.Content[i].Value] = value
		case value.Kind == yaml.SequenceNode:
			more = append(more, value.Content...)
		default:
			more = append(more, value)
		}
	}
	for _, from := range more {
		for name, value := range fieldsOnce(from, seen) {
			if out[name] == nil {
				out[name] = value
			}
		}
	}
	return out
}

// meant is what an alias stands for, and every other node itself.
func meant(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isSecret reports whether a document is a Secret with values in clear, or a list that holds one; kind and version are those
// of its list, for an item that has none of its own.
func isSecret(doc *yaml.Node, kind, version string, depth int) bool {
	object := fields(doc)
	if object == nil || depth == 0 {
		return false
	}
	if n := object["kind"]; n != nil {
		kind = n.Value
	}
	if n := object["apiVersion"]; n != nil {
		version = n.Value
	}
	if items := object["items"]; items != nil && strings.HasSuffix(kind, "List") {
		for _, item := range items.Content {
			if isSecret(meant(item), strings.TrimSuffix(kind, "List"), version, depth-1) {
				return true
			}
		}
	}
	if n := fields(fields(object["metadata"])["annotations"])[lastApplied]; n != nil {
		if found, _ := secretDocument([]byte(n.Value)); found {
			return true
		}
	}
	if kind != "Secret" || version != "v1" {
		return false
	}
	encrypted := len(fields(object["sops"])) > 0
	return inTheClear(object["data"], encrypted) || inTheClear(object["stringData"], encrypted)
}

// inTheClear reports whether the data of a Secret has a value that is not empty, and that SOPS did not encrypt.
func inTheClear(data *yaml.Node, encrypted bool) bool {
	if data == nil || data.Tag == "!!null" {
		return false
	}
	values := fields(data)
	if values == nil {
		return data.Value != "" || len(data.Content) > 0
	}
	for _, value := range values {
		if len(value.Content) > 0 || value.Tag != "!!null" && value.Value != "" && (!encrypted || !strings.HasPrefix(value.Value, "ENC[")) {
			return true
		}
	}
	return false
}

// fromUTF16 is a text as UTF-8, where its first bytes say that it is UTF-16.
func fromUTF16(data []byte) []byte {
	if len(data) < 2 || data[0]^data[1] != 0xfe^0xff || data[0] < 0xfe {
		return data
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		low, high := data[i], data[i+1]
		if data[0] == 0xfe {
			low, high = high, low
		}
		units = append(units, uint16(high)<<8|uint16(low))
	}
	return []byte(string(utf16.Decode(units)))
}

// withoutSecrets refuses files with Secrets in clear: who may read the registry would read them.
func withoutSecrets(files []string) error {
	if len(files) == 0 {
		return nil
	}
	return failure("secrets-in-clear", "Secrets in clear would be published: "+named(files),
		"encrypt them (SOPS), leave them to an operator on the cluster, or publish them all the same: --include-secrets")
}

// inClear warns of the Secrets in clear that something has, if any.
func inClear(files []string) diag.Findings {
	if len(files) == 0 {
		return nil
	}
	return diag.Findings{diag.Warnf("secrets-in-clear", "Secrets in clear are in it: %s", named(files))}
}

// named are some of the files, and how many more there are.
func named(files []string) string {
	out := strings.Join(files[:min(len(files), 5)], ", ")
	if more := len(files) - 5; more > 0 {
		out += " and " + strconv.Itoa(more) + " more"
	}
	return out
}

package kubeconfig

import (
	"bytes"
	"fmt"
	"strings"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// maxFile is how many bytes a kubeconfig, or a file that it names, may have.
const maxFile = 16 << 20

// mistaken says what a file with some content is that is no kubeconfig, with the line; nil for one that may be one. What the file holds is
// never quoted: it may be a token.
func mistaken(path string, data []byte) *diag.Finding {
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		return no(path, "it is empty", "")
	case bytes.HasPrefix(text, []byte("-----BEGIN ")):
		return no(path, "it looks like a certificate or a key", "name the kubeconfig that points to it")
	case cuelang.CheckText(path, data).HasErrors():
		return no(path, "it is no text file", "")
	case !bytes.ContainsAny(text, ": \n{"):
		return no(path, "it looks like a token", "the token goes into a kubeconfig, or is given with --kube-token")
	}
	f, err := cuelang.FromYAML(path, data)
	if err != nil {
		for _, n := range cuelang.YAMLFindings(path, data, err) {
			return no(path, syntaxError(data, n), n.Fix)
		}
		return no(path, "it is no YAML", "")
	}
	tree, ok := cuelang.FileData(f).(*ast.StructLit)
	if !ok {
		return no(path, "line 1: it does not begin with fields like apiVersion and clusters", "")
	}
	fields, err := cuelang.Fields(tree)
	if err != nil {
		return no(path, err.Error(), "")
	}
	return kindOf(path, fields)
}

// syntaxError says where a file is no YAML: at its last line where that is its end.
func syntaxError(data []byte, n diag.Finding) string {
	if line := min(n.Pos.Line, bytes.Count(bytes.TrimSpace(data), []byte("\n"))+1); line > 0 {
		return fmt.Sprintf("line %d: %s", line, plainCause(n))
	}
	return "it is no YAML"
}

// plainCause is what is wrong, without what a quoted line may hold.
func plainCause(n diag.Finding) string {
	if strings.ContainsAny(n.What, "\"`") {
		return "it is no YAML"
	}
	return n.What
}

// kindOf tells by its fields what a file is.
func kindOf(path string, fields []cuelang.Field) *diag.Finding {
	known := false
	for _, f := range fields {
		line := f.Pos.Line()
		switch f.Name {
		case "bundle", "bundles", "fleet", "runtime":
			return no(path, fmt.Sprintf("line %d: it looks like a %s of Hawser", line, strings.TrimSuffix(f.Name, "s")), "bundles are named with -f, fleets with --fleet")
		case "kind":
			if lit, ok := f.Value.(*ast.BasicLit); ok {
				if kind := strings.Trim(lit.Value, `"`); kind != "Config" && plainKind.MatchString(kind) {
					return no(path, fmt.Sprintf("line %d: it looks like a manifest of the kind %s", line, kind), "")
				}
			}
		case "clusters", "contexts", "users":
			known = true
			if lit, isNull := f.Value.(*ast.BasicLit); isNull && lit.Value == "null" {
				continue
			}
			if _, isList := f.Value.(*ast.ListLit); !isList {
				return no(path, fmt.Sprintf("line %d: %s is not a list", line, f.Name), "")
			}
		case "current-context", "preferences", "apiVersion":
			known = known || f.Name == "current-context"
		}
	}
	if !known {
		return no(path, "it has no clusters, no contexts and no users", "")
	}
	return nil
}

var plainKind = lazyregexp.New(`^[A-Z][A-Za-z0-9]{0,60}$`)

func no(path, why, fix string) *diag.Finding {
	n := diag.Errorf("kubeconfig", "%s is no kubeconfig", path)
	n.Why, n.Fix = why, fix
	if fix == "" {
		n.Fix = "name a kubeconfig with --kubeconfig, KUBECONFIG or, for a cluster of a fleet, in the fleet's file"
	}
	return &n
}

// typeMismatch is what a decoder says of a field that is something else than it should be.
var typeMismatch = lazyregexp.New(`cannot unmarshal (\w+) into Go struct field [\w.]*?\.?([\w.-]+) of type`)

// undecoded is the reason why a kubeconfig cannot be decoded, in words of the file.
func undecoded(err error) string {
	text := firstLine(err.Error())
	if m := typeMismatch.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("%s may not be a %s", m[2], m[1])
	}
	if rest, ok := strings.CutPrefix(text, "error loading config file "); ok {
		if _, why, found := strings.Cut(rest, ": "); found {
			text = why
		}
	}
	return text
}

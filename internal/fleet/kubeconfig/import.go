package kubeconfig

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cuelang.org/go/cue/literal"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/redact"
)

// ImportOptions say what becomes a fleet file.
type ImportOptions struct {
	// Kubeconfig is a list of files as in KUBECONFIG; "" takes the environment's, then ~/.kube/config.
	Kubeconfig string
	// Contexts are names or globs; empty takes every context.
	Contexts []string
	// Name is the fleet's name, "fleet" when empty.
	Name string
	// Path, when set, is the kubeconfig as the fleet file shall name it; else its clusters name contexts alone.
	Path string
	// CUE writes CUE instead of YAML.
	CUE bool
}

// Import writes a fleet file from kubeconfig contexts, in the order of their names within guessed groups. Groups are
// guessed from the words of a context's name and marked for review; a context that says nothing gets no group.
func Import(o ImportOptions) (string, diag.Findings) {
	implicit := fleet.Implicit("")
	paths, must, err := pathsFor(implicit, fleet.AccessOptions{Kubeconfig: o.Kubeconfig})
	if err != nil {
		return "", diag.From(err, "kubeconfig")
	}
	l := read(paths, must)
	if l.findings != nil {
		return "", l.findings
	}
	have := slices.Sorted(maps.Keys(l.config.Contexts))
	var chosen []string
	var fs diag.Findings
	for _, pattern := range o.Contexts {
		if err := fleet.CheckGlob(pattern); err != nil || !fleet.AnyMatch(pattern, have) {
			n := diag.Errorf("unknown-context", "there is no context %q in %s", pattern, strings.Join(l.found, ", "))
			n.Fix = "there is: " + listing(have)
			fs = append(fs, n)
		}
	}
	if fs != nil {
		return "", fs
	}
	for _, name := range have {
		if len(o.Contexts) == 0 || fleet.MatchAny(o.Contexts, name) {
			chosen = append(chosen, name)
		}
	}
	if len(chosen) == 0 {
		return "", diag.Findings{diag.Errorf("no-context", "%s has no contexts", strings.Join(l.found, ", "))}
	}
	for _, name := range chosen {
		if _, f := check(l.config, name, l.config.Contexts[name]); f != nil {
			f.Severity = diag.Warning
			fs = append(fs, *f)
		}
	}
	if o.Name == "" {
		o.Name = "fleet"
	}
	entries := entriesOf(chosen)
	at := map[string]string{}
	for i, e := range entries {
		entries[i].path = o.Path
		c := l.config.Clusters[l.config.Contexts[e.context].Cluster]
		if c == nil || c.Server == "" {
			continue
		}
		entries[i].server, entries[i].twin = c.Server, at[c.Server]
		if at[c.Server] == "" {
			at[c.Server] = e.name
		}
	}
	if o.CUE {
		return writeCUE(o.Name, entries), fs
	}
	return writeYAML(o.Name, entries), fs
}

// entry is one cluster of the file. server is its address, twin an earlier cluster with the same one, path its kubeconfig.
type entry struct{ name, group, context, server, twin, path string }

// about is a comment on where the cluster is, on one line, "" when nothing is known.
func (e entry) about() string {
	server := onOneLine(redact.Addresses(e.server))
	if e.twin != "" {
		return server + ", the same server as " + e.twin + ": keep one of them"
	}
	return server
}

// onOneLine is a text of others as it may stand in a comment: what ends a line, for whichever reader, and what nobody sees, as escapes.
func onOneLine(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

// groupRanks are the guessed groups in the order in which they are written: changes should reach production last.
var groupRanks = []struct {
	group string
	words []string
}{
	{"dev", []string{"dev", "develop", "development", "local", "kind", "minikube", "sandbox", "playground"}},
	{"test", []string{"test", "testing", "qa", "ci", "int", "integration"}},
	{"staging", []string{"staging", "stage", "stg", "preprod", "preview", "uat"}},
	{"production", []string{"production", "prod", "prd", "live"}},
}

var words = lazyregexp.New(`[A-Za-z]+`)

// guessGroup finds the group a context's name speaks of: the last word that says one, "" when none does.
func guessGroup(context string) (string, int) {
	found, rank := "", len(groupRanks)
	for _, w := range words.FindAllString(strings.ToLower(context), -1) {
		for i, g := range groupRanks {
			if slices.Contains(g.words, w) {
				found, rank = g.group, i
			}
		}
	}
	return found, rank
}

func entriesOf(contexts []string) []entry {
	type ranked struct {
		entry
		rank int
	}
	var all []ranked
	used := map[string]bool{}
	for _, context := range contexts {
		group, rank := guessGroup(context)
		called := clusterName(context)
		name := called
		for n := 2; used[name]; n++ {
			name = called + "-" + strconv.Itoa(n)
		}
		used[name] = true
		all = append(all, ranked{entry{name: name, group: group, context: context}, rank})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return a.rank - b.rank })
	out := make([]entry, 0, len(all))
	for _, r := range all {
		out = append(out, r.entry)
	}
	return out
}

var notName = lazyregexp.New(`[^a-z0-9._-]+`)

// clusterName makes a cluster's name of a context's: the part after the last slash or, in ARNs, colon.
func clusterName(context string) string {
	name := strings.ToLower(context)
	if i := strings.LastIndexAny(name, "/"); i >= 0 && i < len(name)-1 {
		name = name[i+1:]
	}
	// user@cluster names the cluster last.
	if i := strings.LastIndexByte(name, '@'); i >= 0 && i < len(name)-1 {
		name = name[i+1:]
	}
	name = notName.ReplaceAllString(name, "-")
	if len(name) > 60 {
		name = name[len(name)-60:]
	}
	if name = strings.Trim(name, "-._"); name == "" {
		return "cluster"
	}
	return name
}

var plainKey = lazyregexp.New(`^[a-z][a-z0-9._-]{3,}$`)

// key is a name as YAML reads it back as text.
func key(name string) string {
	if plainKey.MatchString(name) && name != "true" && name != "false" && name != "null" {
		return name
	}
	return strconv.Quote(name)
}

func writeYAML(name string, entries []entry) string {
	var b strings.Builder
	b.WriteString("# Made from kubeconfig contexts. Groups were guessed from the contexts' names: review them,\n" +
		"# and the order, which is the order of changes as long as there is no rollout.\n")
	fmt.Fprintf(&b, "fleet:\n  apiVersion: v1alpha1\n  name: %s\n  clusters:\n", key(name))
	for _, e := range entries {
		if about := e.about(); about != "" {
			fmt.Fprintf(&b, "    # %s\n", about)
		}
		fmt.Fprintf(&b, "    %s:\n", key(e.name))
		if e.group != "" {
			fmt.Fprintf(&b, "      group: %s # guessed\n", e.group)
		} else {
			b.WriteString("      # group: # nothing in the name says one\n")
		}
		if e.path != "" {
			fmt.Fprintf(&b, "      kubeconfig: {path: %s, context: %s}\n", strconv.Quote(e.path), strconv.Quote(e.context))
			continue
		}
		fmt.Fprintf(&b, "      kubeContext: %s\n", strconv.Quote(e.context))
	}
	return b.String()
}

func writeCUE(name string, entries []entry) string {
	var b strings.Builder
	b.WriteString("// Made from kubeconfig contexts. Groups were guessed from the contexts' names: review them,\n" +
		"// and the order, which is the order of changes as long as there is no rollout.\n")
	fmt.Fprintf(&b, "fleet: {\n\tapiVersion: \"v1alpha1\"\n\tname:       %s\n\tclusters: {\n", literal.String.Quote(name))
	for _, e := range entries {
		if about := e.about(); about != "" {
			fmt.Fprintf(&b, "\t\t// %s\n", about)
		}
		fmt.Fprintf(&b, "\t\t%s: {\n", literal.String.Quote(e.name))
		if e.group != "" {
			fmt.Fprintf(&b, "\t\t\tgroup:       %q // guessed\n", e.group)
		} else {
			b.WriteString("\t\t\t// group: nothing in the name says one\n")
		}
		access := "kubeContext: " + literal.String.Quote(e.context)
		if e.path != "" {
			access = fmt.Sprintf("kubeconfig: {path: %s, context: %s}", literal.String.Quote(e.path), literal.String.Quote(e.context))
		}
		fmt.Fprintf(&b, "\t\t\t%s\n\t\t}\n", access)
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

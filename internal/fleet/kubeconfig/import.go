package kubeconfig

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/literal"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// ImportOptions say what becomes a fleet file.
type ImportOptions struct {
	// Kubeconfig is a list of files as in KUBECONFIG; "" takes the environment's, then ~/.kube/config.
	Kubeconfig string
	// Contexts are names or globs; empty takes every context.
	Contexts []string
	// Name is the fleet's name, "fleet" when empty.
	Name string
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
	if o.CUE {
		return writeCUE(o.Name, entries), fs
	}
	return writeYAML(o.Name, entries), fs
}

type entry struct{ name, group, context string }

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

var words = regexp.MustCompile(`[A-Za-z]+`)

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
	used := map[string]int{}
	for _, context := range contexts {
		group, rank := guessGroup(context)
		name := clusterName(context)
		if used[name]++; used[name] > 1 {
			name += "-" + strconv.Itoa(used[name])
		}
		all = append(all, ranked{entry{name, group, context}, rank})
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return a.rank - b.rank })
	out := make([]entry, 0, len(all))
	for _, r := range all {
		out = append(out, r.entry)
	}
	return out
}

var notName = regexp.MustCompile(`[^a-z0-9._-]+`)

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

func writeYAML(name string, entries []entry) string {
	var b strings.Builder
	b.WriteString("# Made from kubeconfig contexts. Groups were guessed from the contexts' names: review them,\n" +
		"# and the order, which is the order of changes as long as there is no rollout.\n")
	fmt.Fprintf(&b, "fleet:\n  apiVersion: v1alpha1\n  name: %s\n  clusters:\n", strconv.Quote(name))
	for _, e := range entries {
		fmt.Fprintf(&b, "    %s:\n", strconv.Quote(e.name))
		if e.group != "" {
			fmt.Fprintf(&b, "      group: %s # guessed\n", e.group)
		} else {
			b.WriteString("      # group: # nothing in the name says one\n")
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
		fmt.Fprintf(&b, "\t\t%s: {\n", literal.String.Quote(e.name))
		if e.group != "" {
			fmt.Fprintf(&b, "\t\t\tgroup:       %q // guessed\n", e.group)
		} else {
			b.WriteString("\t\t\t// group: nothing in the name says one\n")
		}
		fmt.Fprintf(&b, "\t\t\tkubeContext: %s\n\t\t}\n", literal.String.Quote(e.context))
	}
	b.WriteString("\t}\n}\n")
	return b.String()
}

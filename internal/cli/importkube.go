package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// kubeconfig is the part of a kubeconfig file an import reads; credentials are not among it.
type kubeconfig struct {
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
		} `json:"context"`
	} `json:"contexts"`
	Clusters []struct {
		Name    string `json:"name"`
		Cluster struct {
			Server string `json:"server"`
		} `json:"cluster"`
	} `json:"clusters"`
}

// kubeContext is one context on its way into a fleet.
type kubeContext struct{ name, server, group string }

// importKubeconfig prints a fleet file of a kubeconfig's contexts. file is "" for the usual places.
func (s *session) importKubeconfig(file string) error {
	paths := []string{file}
	if file == "" {
		paths = filepath.SplitList(s.getenv("KUBECONFIG"))
		if len(paths) == 0 {
			paths = []string{filepath.Join(s.getenv("HOME"), ".kube", "config")}
		}
	}
	var contexts []kubeContext
	servers := map[string]string{}
	seen := map[string]bool{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return notThere(err, "no kubeconfig at "+path, "name one: hawser fleet import kubeconfig FILE")
		}
		var k kubeconfig
		if err := yaml.Unmarshal(data, &k); err != nil {
			return fmt.Errorf("%s is not a kubeconfig: %w", path, err)
		}
		for _, c := range k.Clusters {
			if _, ok := servers[c.Name]; !ok {
				servers[c.Name] = c.Cluster.Server
			}
		}
		for _, c := range k.Contexts {
			if !seen[c.Name] { // the first file wins, as kubectl merges
				seen[c.Name] = true
				contexts = append(contexts, kubeContext{c.Name, servers[c.Context.Cluster], guessGroup(c.Name)})
			}
		}
	}
	if len(contexts) == 0 {
		return usagef("the kubeconfig has no contexts: %s", strings.Join(paths, ", "))
	}
	_, err := s.Out.Write(fleetYAML(cmp.Or(s.opts.name, "fleet"), contexts, file))
	return err
}

// fleetYAML is the fleet file; file is set when the contexts are not in the usual kubeconfig.
func fleetYAML(name string, contexts []kubeContext, file string) []byte {
	var b bytes.Buffer
	b.WriteString("# Made from kubeconfig contexts. Groups are guessed from the names: please review them.\n")
	fmt.Fprintf(&b, "fleet:\n  apiVersion: v1alpha1\n  name: %s\n  clusters:\n", clusterName(name))
	names, at := map[string]int{}, map[string]string{}
	for _, c := range contexts {
		n := clusterName(c.name)
		if names[n]++; names[n] > 1 {
			n = fmt.Sprintf("%s-%d", n, names[n])
		}
		if c.server != "" {
			fmt.Fprintf(&b, "    # %s", c.server)
			if other := at[c.server]; other != "" {
				fmt.Fprintf(&b, "  the same server as %s: keep one of them", other)
			} else {
				at[c.server] = n
			}
			b.WriteString("\n")
		}
		access := fmt.Sprintf("kubeContext: %q", c.name)
		if file != "" {
			access = fmt.Sprintf("kubeconfig: {path: %q, context: %q}", file, c.name)
		}
		fmt.Fprintf(&b, "    %s: {group: %s, %s}\n", n, c.group, access)
	}
	return b.Bytes()
}

// groupWords are parts of context names and the groups they suggest, the more careful ones first.
var groupWords = []struct{ word, group string }{
	{"production", "production"}, {"prod", "production"}, {"prd", "production"}, {"live", "production"},
	{"staging", "staging"}, {"stage", "staging"}, {"stg", "staging"}, {"preprod", "staging"}, {"uat", "staging"},
	{"test", "test"}, {"qa", "test"}, {"ci", "test"},
	{"development", "dev"}, {"dev", "dev"}, {"kind", "dev"}, {"minikube", "dev"}, {"k3d", "dev"}, {"local", "dev"}, {"desktop", "dev"},
}

var nameWords = regexp.MustCompile(`[a-z]+[0-9]*|[0-9]+`)

// guessGroup guesses a cluster's group from the words of its context's name.
func guessGroup(context string) string {
	words := nameWords.FindAllString(strings.ToLower(context), -1)
	for _, g := range groupWords {
		for _, w := range words {
			if strings.TrimRight(w, "0123456789") == g.word || w == g.word {
				return g.group
			}
		}
	}
	return "default"
}

var notInName = regexp.MustCompile(`[^a-z0-9-]+`)

// clusterName makes a context's name one that a cluster may have: lower case letters, digits and dashes.
func clusterName(s string) string {
	s = strings.Trim(notInName.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if len(s) > 63 {
		s = strings.Trim(s[len(s)-63:], "-") // the end tells clusters apart
	}
	if s == "" {
		return "cluster"
	}
	return s
}

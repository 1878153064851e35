package kubeconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cuelang.org/go/cue/cuecontext"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// imported is what a fleet file says, however it is written.
type imported struct {
	Fleet struct {
		APIVersion string `json:"apiVersion"`
		Name       string `json:"name"`
		Clusters   map[string]struct {
			Group       string `json:"group"`
			KubeContext string `json:"kubeContext"`
		} `json:"clusters"`
	} `json:"fleet"`
}

// readBack reads an imported file strictly: what it does not know is an error.
func readBack(text string, cue bool) (out imported, err error) {
	if cue {
		data, err := cuecontext.New().CompileString(text).MarshalJSON()
		if err != nil {
			return out, err
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(&out)
		return out, err
	}
	err = yaml.UnmarshalStrict([]byte(text), &out)
	return out, err
}

// TestImportIsTheContextsAlone: whatever texts a kubeconfig has, what is imported has a cluster for each of its contexts and nothing else, in
// YAML and CUE, and comments stay comments.
func TestImportIsTheContextsAlone(t *testing.T) {
	hostile := rapid.StringOf(rapid.SampledFrom([]rune("ab-/@:#\"'\\{} \t\n\r\v\f\u0085\u2028\u2029\u202e\ufeff\x7f\x1b\u00e9\U0001f600")))
	server := rapid.OneOf(rapid.SampledFrom([]string{"https://10.0.0.1\n    injected: {kubeContext: x}\n", "https://10.0.0.1\u2028injected: 1", "https://10.0.0.1\u0085    injected: {}",
		"https://10.0.0.1\r    injected: {}", "https://10.0.0.1\n}\ninjected: {}\n", "https://me:UrlCanary77@10.0.0.1"}), hostile)
	rapid.Check(t, func(rt *rapid.T) {
		contexts := rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom([]string{"a", "A", "a-2", "a-3", "prod-eu", "x\ny"}), hostile), 1, 6, rapid.ID).Draw(rt, "contexts")
		config := "apiVersion: v1\nkind: Config\nusers: [{name: u, user: {token: t}}]\nclusters:\n"
		for i := range 3 {
			config += fmt.Sprintf("- {name: c%d, cluster: {server: %s}}\n", i, strconv.QuoteToASCII(server.Draw(rt, "server")))
		}
		config += "contexts:\n"
		for i, name := range contexts { // some have one cluster
			config += fmt.Sprintf("- {name: %s, context: {cluster: c%d, user: u}}\n", strconv.QuoteToASCII(name), i%3)
		}
		slices.Sort(contexts)
		path := write(t, "config", config)
		for _, cue := range []bool{false, true} {
			text, fs := Import(ImportOptions{Kubeconfig: path, CUE: cue})
			if fs.HasErrors() {
				rt.Fatal(fs)
			}
			got, err := readBack(text, cue)
			if err != nil {
				rt.Fatalf("cue %t: %v:\n%s", cue, err, text)
			}
			var have []string
			for _, c := range got.Fleet.Clusters {
				have = append(have, c.KubeContext)
			}
			slices.Sort(have)
			if !slices.Equal(have, contexts) || got.Fleet.Name != "fleet" || got.Fleet.APIVersion != "v1alpha1" {
				rt.Fatalf("cue %t: %q, want %q:\n%s", cue, have, contexts, text)
			}
			if strings.Contains(text, "UrlCanary77") || strings.ContainsAny(text, "\r\v\f\u0085\u2028\u2029\u202e\x1b") {
				rt.Fatalf("cue %t: %q", cue, text)
			}
		}
	})
}

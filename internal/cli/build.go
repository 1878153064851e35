package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/report"
)

func (s *session) buildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "build -f BUNDLE [--fleet FLEET]",
		Short: "Print the objects of a bundle as YAML",
		Long: `Build renders a bundle and prints its objects as multi-document YAML, all of them or, on an error, nothing. Every
instance is headed "# Instance: NAME", and "# Cluster: NAME" when there are several clusters.
Objects of namespaced kinds say their namespace. With --output-dir every object becomes a file, Secrets for their owner alone: DIR/[CLUSTER/]INSTANCE/[NAMESPACE_]GROUP_VERSION_KIND_NAME.yaml.
A value that is known only in the cluster, and is not known there yet, is an error unless --stand-ins is given.
Hooks are printed like other objects, and tests are left out.
In DIR, .hawser-build lists the files that builds of it wrote. The next build removes those that it no longer makes, of
the same bundle and the selected clusters. It touches no other file; one in its way with other content is an error.
Clusters are asked for their facts only when the bundle uses them; --facts takes them from a snapshot.`,
		Example: `  hawser build -f shop.yaml
  hawser build -f shop.yaml --fleet fleet.yaml --group staging --mask-secrets
  hawser build -f shop.yaml --fleet fleet.yaml --facts facts.json --output-dir rendered`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.eachBundle(cmd, exitChanges, func() error { return s.build(cmd) })
		},
	}
	f := cmd.Flags()
	s.opts.bundleFlags(f)
	s.opts.fleetFlags(f)
	s.opts.accessFlags(f)
	f.StringVar(&s.opts.outputDir, "output-dir", "", "write every object into a file below this directory")
	f.BoolVar(&s.opts.maskSecrets, "mask-secrets", false, "print *** for the data of Secrets and for secret runtime values (not in files)")
	f.BoolVar(&s.opts.standIns, "stand-ins", false, "print stand-ins where a value is known only in the cluster, instead of refusing")
	s.opts.lockedFlag(f)
	f.StringVar(&s.opts.facts, "facts", "", "snapshot of the clusters' facts to use instead of the clusters (see: fleet snapshot)")
	s.completeFleet(cmd)
	_ = cmd.MarkFlagDirname("output-dir")
	return cmd
}

func (s *session) build(cmd *cobra.Command) error {
	req, err := s.bundleRequest(cmd)
	if err != nil {
		return err
	}
	eng, err := s.engine(s.newProgress())
	if err != nil {
		return err
	}
	r, err := eng.Build(cmd.Context(), req)
	if err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		_ = report.Findings(s.Err, r.Findings, s.style(s.Err))
	}
	s.differFor(r.Findings)
	if r.MultiCluster {
		s.differ("build", "several clusters are built at once")
	}
	for i := range r.Items {
		r.Items[i].Objects = inOrder(r.Items[i].Objects)
	}
	if s.opts.outputDir != "" {
		return s.buildFiles(r)
	}
	var b bytes.Buffer
	if err := buildStream(&b, r, s.opts.maskSecrets); err != nil {
		return err
	}
	_, err = unmasked(s.Out).Write(b.Bytes())
	return err
}

// inOrder sorts objects as they would be written: by class, then identity.
func inOrder(objs []object.Object) []object.Object {
	return slices.SortedStableFunc(slices.Values(objs), func(a, b object.Object) int {
		x, y := a.Ref(), b.Ref()
		return cmp.Or(cmp.Compare(object.ClassOf(x), object.ClassOf(y)), x.Compare(y))
	})
}

// buildStream writes all instances, each with its head, as one stream of documents.
func buildStream(b *bytes.Buffer, r *engine.BuildResult, mask bool) error {
	for _, item := range r.Items {
		fmt.Fprintf(b, "---\n# Instance: %s\n", item.Instance)
		if r.MultiCluster {
			fmt.Fprintf(b, "# Cluster: %s\n", item.Cluster)
		}
		for _, o := range item.Objects {
			if mask {
				o = masked(o, r.Redact)
			}
			data, err := objectYAML(o)
			if err != nil {
				return err
			}
			b.WriteString("---\n")
			b.Write(data)
		}
		if len(item.Objects) == 0 {
			b.WriteString("---\n")
		}
	}
	return nil
}

func objectYAML(o object.Object) ([]byte, error) {
	data, err := yaml.Marshal(o.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Ref(), err)
	}
	return data, nil
}

// masked is a copy of an object with *** for the values of a Secret, and for secret runtime values wherever they stand.
func masked(o object.Object, redact func(string) string) object.Object {
	hide := func(s string) string { return s }
	if redact != nil {
		hide = redact
	}
	o.Body, _ = maskedValue(o.Body, hide).(map[string]any)
	if !o.Ref().IsSecret() {
		return o
	}
	for _, field := range []string{"data", "stringData"} {
		if values, ok := o.Body[field].(map[string]any); ok {
			for k := range values {
				values[k] = "***"
			}
		}
	}
	return o
}

// maskedValue copies a value with every string in it hidden.
func maskedValue(v any, hide func(string) string) any {
	switch v := v.(type) {
	case string:
		return hide(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = maskedValue(v[i], hide)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[hide(k)] = maskedValue(v[k], hide)
		}
		return out
	}
	return v
}

func severalNamespaces(objs []object.Object) bool {
	seen := map[string]bool{}
	for _, o := range objs {
		if ns := o.Ref().Namespace; ns != "" {
			seen[ns] = true
		}
	}
	return len(seen) > 1
}

// fileName is [<namespace>_]<group>_<version>_<kind>_<name>.yaml in lower case; the core group has no name. Colons,
// which RBAC names may hold and file systems may not, become underscores.
func fileName(o object.Object, withNamespace bool) string {
	gvk, ref := o.GVK(), o.Ref()
	var parts []string
	if withNamespace && ref.Namespace != "" {
		parts = append(parts, ref.Namespace)
	}
	if gvk.Group != "" {
		parts = append(parts, gvk.Group)
	}
	name := strings.ToLower(strings.Join(append(parts, gvk.Version, gvk.Kind, ref.Name), "_"))
	return strings.NewReplacer("/", "_", ":", "_").Replace(name) + ".yaml"
}

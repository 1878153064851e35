package fleet

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/diag"
)

// Names of the runtime values that carry the cluster's name and group; both spellings mean the same.
var (
	nameVars  = []string{"TIMONI_CLUSTER_NAME", "HAWSER_CLUSTER_NAME"}
	groupVars = []string{"TIMONI_CLUSTER_GROUP", "HAWSER_CLUSTER_GROUP"}
)

// ClusterVar tells which fact of the cluster a runtime value carries: "name", "group", or "" for any other value.
func ClusterVar(name string) string {
	switch {
	case slices.Contains(nameVars, name):
		return "name"
	case slices.Contains(groupVars, name):
		return "group"
	}
	return ""
}

// RuntimeValues lays the layers of runtime inputs over each other, lowest first: default of the implicit cluster <
// environment < fleet query < declared cluster. env may be nil (no --runtime-from-env); queried are the values
// the fleet's queries gave for this cluster.
//
// Values of the environment are secret when their name or form says so (SecretVar); those of Secrets were marked by the query.
func RuntimeValues(env map[string]string, queried map[string]Value, c Cluster) map[string]Value {
	out := map[string]Value{}
	identity := func(layer Layer, origin string, defaultOnly bool) {
		for _, set := range []struct {
			names []string
			value string
		}{{nameVars, c.Name}, {groupVars, c.Group}} {
			for _, name := range set.names {
				out[name] = Value{Value: set.value, Layer: layer, Origin: origin, DefaultOnly: defaultOnly}
			}
		}
	}
	if c.Implicit {
		identity(LayerImplicit, "implicit cluster", true)
	}
	for name, value := range env {
		out[name] = Value{Value: value, Layer: LayerEnv, Origin: "env " + name, Secret: SecretVar(name, value)}
	}
	maps.Copy(out, queried)
	if c.Implicit {
		// One spelling given by environment or query decides for both.
		for _, names := range [][]string{nameVars, groupVars} {
			mirror(out, names[0], names[1])
			mirror(out, names[1], names[0])
		}
		return out
	}
	identity(LayerDeclared, "cluster "+c.Name, false)
	return out
}

func mirror(values map[string]Value, from, to string) {
	if values[from].Layer != LayerImplicit && values[to].Layer == LayerImplicit {
		values[to] = values[from]
	}
}

// Shown are the values of a cluster that may be shown: those of the environment are the caller's own, and of secret ones the
// name alone is told; absent says of them that nobody has them.
func Shown(values map[string]Value, absent bool) map[string]Value {
	out := map[string]Value{}
	for name, v := range values {
		if v.Secret {
			v.Value, v.Absent = "", v.Absent || absent
		}
		if v.Layer != LayerEnv {
			out[name] = v
		}
	}
	return out
}

// NoAnswer is the finding that a cluster does not answer, and why.
func NoAnswer(cluster, why string) diag.Finding {
	f := diag.Errorf("unreachable", "the cluster does not answer: %s", why)
	f.Cluster = cluster
	return f
}

package built

import (
	"fmt"
	"strings"

	"hawser.dev/hawser/internal/fleetplan"
)

// Value is a cluster's value as CUE; fields of declared clusters stand under the cluster's name.
func Value(c fleetplan.ClusterValues, declared bool) string {
	text := strings.TrimSpace(c.Bundle)
	if text == "" {
		return ""
	}
	if declared {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, "bundle:") || strings.HasPrefix(l, "bundles:") {
				lines[i] = fmt.Sprintf("%q: %s", c.Cluster, l)
			}
		}
		text = strings.Join(lines, "\n")
	}
	return text + "\n"
}

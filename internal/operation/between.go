package operation

import (
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/history"
)

// Between is a comparison, to be made, of what two sides of a fleet run, and the selection of the clusters of both. between is
// "A,B": each is a group, a cluster, or a glob over clusters.
func Between(clusters []fleet.Cluster, between string) (*history.Between, fleet.Selection, error) {
	out, selected := &history.Between{}, fleet.Selection{}
	if len(clusters) == 0 {
		f := diag.Errorf("no-fleet", "--between compares clusters of a fleet, and there is none")
		f.Fix = "name it with --fleet"
		return nil, selected, diag.Findings{f}.Err()
	}
	from, to, _ := strings.Cut(between, ",")
	sides := []*history.Side{&out.From, &out.To}
	for i, name := range []string{strings.TrimSpace(from), strings.TrimSpace(to)} {
		if name == "" || strings.Contains(name, ",") {
			f := diag.Errorf("usage", "--between needs two names, and has %q", between)
			f.Fix = "name two groups, or two clusters: --between staging,production"
			return nil, selected, diag.Findings{f}.Err()
		}
		chosen, _, findings := fleet.Named(clusters, []string{name})
		if err := findings.Err(); err != nil {
			return nil, selected, err
		}
		*sides[i] = history.Side{Name: name, Clusters: []string{}}
		for _, c := range chosen {
			if i == 1 && strings.Contains("\n"+strings.Join(out.From.Clusters, "\n")+"\n", "\n"+c.Name+"\n") {
				f := diag.Errorf("usage", "cluster %s is on both sides of --between %s", c.Name, between)
				f.Fix = "name groups or clusters that have none in common: --between staging,production; what two releases of one cluster differ in: hawser history diff BUNDLE"
				return nil, selected, diag.Findings{f}.Err()
			}
			sides[i].Clusters, selected.Clusters = append(sides[i].Clusters, c.Name), append(selected.Clusters, c.Name)
		}
	}
	return out, selected, nil
}

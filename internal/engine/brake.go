package engine

import (
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/plan"
)

// emptied says where an apply would delete everything because nothing is declared any more: an instance that is placed
// and renders nothing, or a bundle without any object on the selected clusters. However few objects go, that is more
// often a broken template, an empty file or a mistyped group than meant.
func (p *FleetPlan) emptied() []string {
	if p.Verb != "apply" {
		return nil
	}
	var why []string
	declared, deleted := 0, 0
	for _, cp := range p.Clusters {
		if cp.Plan == nil || cp.work == nil {
			continue
		}
		has, goes := map[string]bool{}, map[string]int{}
		for _, d := range cp.work.set.desired {
			if !d.OwnNamespace && d.Hook == nil {
				has[d.Instance] = true
				declared++
			}
		}
		for _, ch := range cp.Plan.Changes {
			if ch.Action == plan.Delete && ch.Hook == nil {
				goes[ch.Instance]++
				deleted++
			}
		}
		for _, part := range cp.work.set.parts {
			if n := goes[part.instance.Name]; n > 0 && !has[part.instance.Name] {
				why = append(why, fmt.Sprintf("%s: instance %s renders nothing any more, and the %d it has there go", cp.Cluster, part.instance.Name, n))
			}
		}
	}
	if declared == 0 && deleted > 0 && len(why) == 0 {
		return []string{"nothing of the bundle is placed on any selected cluster any more"}
	}
	return append(why, p.placedNowhere()...)
}

// placedNowhere names the declared instances that leave their last cluster: more often a mistyped label than meant.
func (p *FleetPlan) placedNowhere() []string {
	away, goes := map[string]int{}, map[string]int{}
	for _, cp := range p.Clusters {
		for name := range cp.NotPlaced {
			away[name]++
		}
		if cp.Plan == nil {
			continue
		}
		for _, ch := range cp.Plan.Changes {
			if ch.Action == plan.Delete && ch.Hook == nil {
				goes[ch.Instance]++
			}
		}
	}
	var why []string
	for _, name := range slices.Sorted(maps.Keys(away)) {
		if away[name] == len(p.run.all) && goes[name] > 0 {
			why = append(why, fmt.Sprintf("instance %s is placed on no cluster any more, and the %d objects it has go", name, goes[name]))
		}
	}
	return why
}

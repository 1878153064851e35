package fleetplan

import (
	"fmt"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
)

// LostAtStatus is the finding of a status that found objects with the bundle's marks and no record.
func LostAtStatus(bundle, lost string) diag.Finding {
	f := diag.Errorf(plan.CodeLostRecord, "the record of bundle %s is lost, and its objects are there", bundle)
	f.Why = lost
	f.Fix = "apply the bundle: the record is made again from these objects, and nothing is deleted by that"
	return f
}

// Unsure says why the delete of a whole bundle needs its number: it may delete what is somebody else's.
func (p *FleetPlan) Unsure() []string {
	var why []string
	for _, cp := range p.Clusters {
		if cp.Plan != nil {
			why = append(why, deletionguard.Unsure(cp.Cluster, cp.Plan)...)
		}
	}
	return why
}

// CodeNotInstalled is the code of the finding that a bundle is nowhere.
const CodeNotInstalled = "not-installed"

// NotInstalled is the error of a delete that found a record nowhere; doubts are what could not be looked at.
func NotInstalled(bundle string, doubts diag.Findings) diag.Findings {
	f := diag.Errorf(CodeNotInstalled, "bundle %s is not installed on any selected cluster", bundle)
	f.Fix = "hawser status lists what is installed"
	if len(doubts) > 0 {
		f.What = fmt.Sprintf("bundle %s has a record on no selected cluster, and on %s nobody could see whether its objects are there", bundle, diag.Counted(len(doubts), "cluster"))
		f.Why, f.Fix = doubts[0].Why, doubts[0].Fix+"; if it was never installed, nothing is to be done"
	}
	return diag.Findings{f}
}

package render

import (
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Deterministic finds objects that were rendered otherwise than they are recorded, from equal inputs.
func Deterministic(recorded, now []plan.Desired) diag.Findings {
	var findings diag.Findings
	digests := map[object.Ref]string{}
	for _, d := range recorded {
		digests[d.Ref] = d.Digest
	}
	for _, d := range now {
		if digests[d.Ref] != d.Digest {
			f := diag.Errorf("not-deterministic", "equal inputs rendered a different object than the recorded one")
			f.Object, f.Instance = d.Ref.String(), d.Instance
			f.Fix = "this is a defect of the module or of Hawser; please report it"
			findings = append(findings, f)
		}
	}
	return findings
}

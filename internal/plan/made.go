package plan

import (
	"slices"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// MadeAnew refuses to make up values for an instance of which nothing is kept, where objects that are there were made with
// others: where the record is lost too, and where the objects were another instance's or another bundle's. kept is what is
// kept for the bundle's instances, made what this plan made up for the one.
func MadeAnew(p *Plan, in Input, instance string, kept map[string]chance.Answers, made chance.Answers) diag.Findings {
	for _, ch := range p.Changes {
		if ch.Instance == instance && ch.Code == CodeMoved && ch.Action != Release {
			return diag.Findings{chance.Moved(ch.Ref.String(), "another bundle", instance)}
		}
	}
	declares := func(ref object.Ref) bool {
		return slices.ContainsFunc(in.Desired, func(d Desired) bool { return d.Ref == ref && d.Instance == instance && !d.OwnNamespace })
	}
	for _, o := range in.Owned {
		switch was := o.Instance; {
		case in.Rebuilt && !in.Recorded && was == instance:
			return diag.Findings{chance.Lost(instance, object.SystemNamespace)}
		case was != instance && kept[was].Secret() && made.Digest() != kept[was].Digest() && declares(o.Ref):
			return diag.Findings{chance.Moved(o.Ref.String(), was, instance)}
		}
	}
	return nil
}

package object

import "hawser.dev/hawser/internal/builtin"

// Fixed is a digest of what the API server may refuse to change of an object once it is there, "" when it can change
// everything. Two declarations with the same one differ only in what every API server lets change, webhooks apart; of
// custom resources that is everything but their spec, because their rules are not known here.
func Fixed(o Object) string {
	ref := o.Ref()
	if ref.Group == "" && (ref.Kind == "Secret" || ref.Kind == "ConfigMap") && o.Body["immutable"] == true {
		return o.Digest()
	}
	if fields, some := builtin.Fields(ref.Group, ref.Kind, ref.Custom(), o.Body); some {
		return DigestJSON(fields)
	}
	return ""
}

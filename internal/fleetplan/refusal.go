package fleetplan

// refusals are the codes of findings by which something is refused that was said rightly, and the way on is a decision or
// another state of the cluster. By what they refuse:
var refusals = map[string]bool{
	// the wrong place, or somebody else's
	"wrong-cluster": true, "same-cluster": true, "other-fleet": true, "other-source": true, "untold-bundle": true, "foreign-owner": true, "field-conflict": true,
	// not what was planned
	"stale-plan": true, "edited-plan": true, "stale-lock": true, "locked": true,
	// would be lost
	"deletion-brake": true, "crd-in-use": true, "namespace-in-use": true, "immutable": true, "kind-not-served": true, "hook-lost": true,
	"lost-record": true, "damaged-record": true,
	"kept-values-lost": true, "kept-values-moved": true, "kept-values-doubtful": true, "kept-values-damaged": true, "kept-values-unknown": true, "kept-values-one-off": true,
	"kept-values-ignored": true, "kept-values-former": true, "kept-values-in-use": true, "not-kept": true, "release-incomplete": true, "release-open": true, "rotate-suspended": true, "lookup-failed": true,
	// not yet
	"wave-gate": true, "release-paused": true, "ambiguous-release": true, "ambiguous-wave": true, "missing-bundle": true, "unreachable": true, "releases-unknown": true, "newest-unknown": true, "disputed-release": true, "damaged-release": true, "lost-release": true, "unknown-release": true,
	// not by whom, or not from there
	"missing-rights": true, "signature-missing": true, "signature-refused": true, "signature-impossible": true, "no-signatures": true,
}

// Refusal reports whether a finding's code is that of a refusal rather than of a mistake.
func Refusal(code string) bool { return refusals[code] }

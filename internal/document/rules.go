package document

import (
	"reflect"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/specdecode"
)

// rules are what documents have to obey beyond what the tags of their types say.
func rules() specdecode.Rules {
	out := specdecode.Rules{
		Formats: formats,
		Checks:  map[reflect.Type]specdecode.Check{},
		Instead: map[reflect.Type]func(*reporter, cue.Value) bool{reflect.TypeFor[v1alpha1.ReleaseStore](): storeWord},
		Later:   laterFields,
		Empty: map[string]diag.Finding{
			// Without clusters the current context would be meant, which nobody says here.
			"clusters": {What: "the fleet has no clusters", Fix: "declare them, or leave clusters out to mean the current context"},
			"sources":  {What: "sources is empty: nothing is meant"},
			"by":       {What: "by is empty: nobody could sign it"},
			"required": {What: "there is no rule: leave signatures out to want none"},
		},
	}
	// What a bundle says.
	check(out, checkOrder)
	check(out, checkInstance)
	check(out, checkValues)
	check(out, checkHelm)
	check(out, checkManifests)
	check(out, checkIgnoreRule)
	check(out, checkLabelSelector)
	check(out, checkToleration)
	// What a fleet says.
	check(out, checkFleet)
	check(out, checkCluster)
	check(out, checkWindow)
	check(out, checkSecretStore)
	check(out, checkAgeKeys)
	check(out, checkReleases)
	check(out, checkReleaseStore)
	check(out, checkS3)
	check(out, checkGCS)
	check(out, checkGCSCredentials)
	check(out, checkAzureCredentials)
	check(out, checkSignedBy)
	return out
}

// check adds the check of a type.
func check[T any](to specdecode.Rules, f func(*reporter, structure, *T)) {
	t, c := specdecode.CheckOf(f)
	to.Checks[t] = c
}

// laterFields are those of other versions.
var laterFields = map[reflect.Type][]string{
	reflect.TypeFor[v1alpha1.Instance]():         {"overrides", "replicas", "runOnce"},
	reflect.TypeFor[v1alpha1.Placement]():        {"max", "spread"},
	reflect.TypeFor[v1alpha1.KubeconfigAccess](): {"content", "secretRef", "url", "resource"},
	reflect.TypeFor[v1alpha1.SecretStore]():      laterStores,
}

package chance

import (
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Lost refuses to make anew what was made up for an instance and is no longer kept in the namespace.
func Lost(instance, namespace string) diag.Finding {
	f := diag.Errorf("kept-values-lost", "what was made up for %s is no longer on the cluster", instance)
	f.Why = "the Secret in " + namespace + " that kept it is gone: every password and certificate would be another"
	f.Fix = "restore the Secret from a backup, or have new ones made: --rotate " + instance
	return f
}

// Moved refuses to make anew what was made up for another instance, one of whose objects an instance declares now.
func Moved(object, from, to string) diag.Finding {
	f := diag.Errorf("kept-values-moved", "%s declares %s, which was made with the passwords of %s", to, object, from)
	f.Why = "what is made up is kept by the instance's name: " + to + " would get others"
	f.Fix = "rename one instance at a time, which takes along what was made up; or have new ones made: --rotate " + to
	f.Object = object
	return f
}

// LookupFailed refuses to make up what a Secret that cannot be looked at may hold.
func LookupFailed(secret, instance, why string) diag.Finding {
	f := diag.Errorf("lookup-failed", "whether the cluster has the %s that the chart looks up is not known", secret)
	f.Why = why + "; made anew, what it holds would be another password"
	f.Fix = "let the user read it, or try again; to make all values anew on purpose: --rotate " + instance
	f.Object = secret
	return f
}

// Damaged refuses to go on where what is kept cannot be read.
func Damaged(why string, instances []string) diag.Finding {
	f := diag.Errorf("kept-values-damaged", "what was made up for the bundle cannot be read")
	f.Why = why
	f.Fix = "restore the Secret hawser-OWNER-kept from a backup; else delete it and have everything made anew: --rotate " + strings.Join(instances, " --rotate ")
	return f
}

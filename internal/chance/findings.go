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

// MovedHere refuses to put an instance's values over those that an object was made with while it stood in another bundle.
func MovedHere(object, to string) diag.Finding {
	f := diag.Errorf("kept-values-moved", "%s declares %s, which was made with the passwords of another bundle", to, object)
	f.Why = "what was made up there is not what is kept for " + to + ": it would be another password"
	f.Fix = "move the instance under its own name, and apply this bundle once without it where it stood in it before; or have new values made: --rotate " + to
	f.Object = object
	return f
}

// Doubtful refuses to guess whether an instance is the one that went, or one of its own name that was there before.
func Doubtful(instance, was string) diag.Finding {
	f := diag.Errorf("kept-values-doubtful", "whether %s is what was %s, or the former %s, is not known", instance, was, instance)
	f.Why = "passwords are kept of both, and no object comes along that tells"
	f.Fix = "for the former one apply once without " + instance + " and then with it; else give it a name that was not used before, or have new values made: --rotate " + instance
	return f
}

// LeftBehind refuses to delete what objects that are handed over were made with.
func LeftBehind(object, instance, bundle, to string) diag.Finding {
	f := diag.Errorf("kept-values-moved", "%s goes to instance %s of bundle %s, and was made with the passwords of %s", object, to, bundle, instance)
	f.Why = "what is made up is kept by the instance's name, and would be deleted with this bundle"
	f.Fix = "give instance " + to + " the name " + instance + ", or apply bundle " + bundle + " first"
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

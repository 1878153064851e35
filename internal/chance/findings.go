package chance

import (
	"slices"
	"strconv"
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

// Moved refuses to make anew what was made up for another instance, one of whose objects an instance declares now. swapped:
// both are there and had values before.
func Moved(object, from, to string, swapped bool) diag.Finding {
	f := diag.Errorf("kept-values-moved", "%s declares %s, which was made with the passwords of %s", to, object, from)
	f.Why = "what is made up is kept by the instance's name: " + to + " would get others"
	f.Fix = "rename one instance at a time, which takes along what was made up; or have new ones made: --rotate " + to
	if swapped {
		f.Fix = "undo it, and swap the names in three applies: rename " + from + " to a name that is not used, then " + to + " to " + from +
			", then that name to " + to + "; each takes along what was made up"
	}
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

// Adopted refuses to put an instance's values into an object that is taken over from a bundle which made it with its own.
func Adopted(object, to string) diag.Finding {
	f := diag.Errorf("kept-values-moved", "%s takes over %s, which another bundle made with its own passwords", to, object)
	f.Why = "what was made up there is kept for that bundle alone: it would be another password"
	f.Fix = "let one set of files hold both bundles, the other one without it, and apply them once with --take-over: then the values come along; " +
		"or give the value that is in use in the bundle, or have new values made: --rotate " + to
	f.Object = object
	return f
}

// InUse refuses to put new values into an object that is there without the bundle: somebody made it, or an earlier delete or eject left it.
func InUse(object, instance string) diag.Finding {
	f := diag.Errorf("kept-values-in-use", "%s would put newly made passwords into %s, which is there already", instance, object)
	f.Why = "nothing is kept of what it was made with, and what it holds may be in use: it would be another password"
	f.Fix = "give the value that is in use in the bundle, or have all values made anew, also those that a chart looks up: --rotate " + instance
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

// Unclaimed refuses to give an instance what was made up for one of its name in a bundle that the files do not hold any more,
// and of which no object comes along.
func Unclaimed(instance string) diag.Finding {
	f := diag.Errorf("kept-values-doubtful", "%s would get the passwords of another bundle's instance, which may go on", instance)
	f.Why = "that bundle was applied from the same files, which do not hold it any more, and none of its objects comes along"
	f.Fix = "have values of its own made: --rotate " + instance + "; or give it a name that the other bundle has not"
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

// OneOff refuses to make anew what an object holds that is annotated to be created once and is there. asked: a rotation was.
func OneOff(object, instance string, asked bool) diag.Finding {
	f := diag.Errorf("kept-values-one-off", "%s is annotated one-off: it would keep what was made up for %s, and others would get something new", object, instance)
	f.Why = "what is one-off is created once and never changed"
	f.Fix = "take the annotation one-off away, or delete the object, so that it is made again with what is new"
	if !asked {
		f.Why += "; something new is made up because the bundle or the chart asks for it otherwise than before, or for the first time"
		f.Fix = "undo that, or " + f.Fix
	}
	f.Object, f.Instance = object, instance
	return f
}

// OfHook refuses to make anew what an object holds that a hook made which does not run now.
func OfHook(object, instance string) diag.Finding {
	f := diag.Errorf("kept-values-one-off", "%s is a hook that does not run now: it would keep what was made up for %s, and others would get something new", object, instance)
	f.Why = "what a hook makes is written when the hook runs"
	f.Fix = "let it run at upgrades too (helm.sh/hook: pre-install,pre-upgrade), make it an ordinary object, or rotate other values alone: --rotate " + instance + "/NAME"
	f.Object, f.Instance = object, instance
	return f
}

// Ignored refuses to make anew what stands in a field that is left to others.
func Ignored(object, instance string) diag.Finding {
	f := diag.Errorf("kept-values-ignored", "%s would keep what was made up for %s, and others would get something new", object, instance)
	f.Why = "an ignore rule leaves the field to others: it is not written"
	f.Fix = "take its path out of the ignore rules for this apply, or rotate other values alone: --rotate " + instance + "/NAME"
	f.Object, f.Instance = object, instance
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

// Unknown refuses to make values up for a new instance where a damaged record hides whether another bundle has them.
func Unknown(why string) diag.Finding {
	f := diag.Errorf("kept-values-unknown", "whether what a new instance needs was made up for another bundle before is not known")
	f.Why = "a record of the cluster cannot be read: " + why + "; made anew, it would be another password"
	f.Fix = "apply the bundle of that record once with its files and --take-over, which makes its record again; hawser status names it"
	return f
}

// Damaged refuses to go on where what is kept cannot be read.
func Damaged(why string, instances []string) diag.Finding {
	f := diag.Errorf("kept-values-damaged", "what was made up for the bundle cannot be read")
	f.Why = why
	f.Fix = "restore the Secret hawser-OWNER-kept from a backup; else delete it and have everything made anew: --rotate " + strings.Join(instances, " --rotate ")
	return f
}

// Former is the finding about an object that held other made-up values in a release that is gone back to; refused tells why they must
// not come back, "" that the object is not there and only comes back as it was.
func Former(object, instance, refused string) diag.Finding {
	f := diag.Warnf("kept-values-former", "what is made up for %s has changed since, and %s comes back as it was", instance, object)
	f.Why = "passwords and certificates that were made anew are in use, and those before them are not"
	f.Fix = "apply the files of that release: they get what is kept now"
	if refused != "" {
		f = diag.Errorf("kept-values-former", "%s would go back to what was made up for %s before it was made anew", object, instance)
		f.Why = refused
		f.Fix = "apply the files of that release: they get what is kept now; or go back to one of after it was made anew, with --to (hawser history shows which there are)"
	}
	f.Object, f.Instance = object, instance
	return f
}

// someObjects is how many objects a finding names.
const someObjects = 5

// Stays tells that objects of a release that is gone back to get what was made anew for an instance since, in the release of that name ("" where that is not known).
func Stays(instance, release string, objects []string) diag.Finding {
	if n := len(objects) - someObjects; n > 1 {
		objects = append(slices.Clone(objects[:someObjects]), strconv.Itoa(n)+" more")
	}
	f := diag.Warnf("kept-values-stay", "what was made anew for %s since stays: %s", instance, strings.Join(objects, ", "))
	if release != "" {
		f.What = "what was made anew for " + instance + " in release " + release + " stays: " + strings.Join(objects, ", ")
	}
	f.Instance = instance
	f.Why = "it is in use, and what was before it is not; the rest goes back as it was, also what was computed of the former value (a hash, a checksum)"
	f.Fix = "none is needed; where something was computed of it, apply the files of that release instead"
	return f
}

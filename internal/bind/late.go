package bind

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// Explained adds to findings about an instance that was rendered with stand-ins for values of other instances, and for what other bundles write,
// what to do about those.
func Explained(fs diag.Findings, open []From) diag.Findings {
	if len(open) == 0 {
		return fs
	}
	for i := range fs {
		if fs[i].Severity != diag.Error {
			continue
		}
		if fs[i].Why != "" {
			fs[i].Why += "; "
		}
		fs[i].Why += "values are known only after " + strings.Join(After(open), ", ")
		other := fs[i].Fix
		if fs[i].Fix = meanwhile(open); other != "" {
			fs[i].Fix += "; where it is about another value: " + other
		}
	}
	return fs
}

// meanwhile is what to do where something that stands in for values does not fit.
func meanwhile(open []From) string {
	var bundles []string
	instances := false
	for _, f := range open {
		instances = instances || f.Bundle == ""
		if flag := "--bundle " + f.Bundle; f.Bundle != "" && !slices.Contains(bundles, flag) {
			bundles = append(bundles, flag)
		}
	}
	const preview = "give a value that fits in the meantime: {from: {..., preview: VALUE}}"
	apply := "apply that one first, by itself (" + strings.Join(bundles, ", ") + "): the values are known then"
	switch {
	case len(bundles) == 0:
		return preview
	case len(bundles) > 1:
		apply = "apply those first, by themselves (" + strings.Join(bundles, ", ") + "): the values are known then"
	}
	if instances {
		return preview + "; of bundles: " + apply
	}
	return apply
}

// CodeDecides is the code of warnings that values which are not known decide about more than what is shown as not known.
const CodeDecides = "value-decides"

// Decides warns that what is open decides about more than the fields that hold it, of objects: it may be refused when it comes.
func Decides(objects []string, open []From) diag.Finding {
	f := diag.Warnf(CodeDecides, "what comes with %s decides about %s, which a plan cannot show before", strings.Join(After(open), ", "), diag.Few(objects))
	f.Why, f.Fix = "where that is then otherwise than it is shown, nothing of this bundle is written", meanwhile(open)
	return f
}

// Absent is the finding that the object a value comes from is not there (object names it), though its instance is carried out and
// instance, which takes the value, waits for it.
func (f From) Absent(object, instance string) *diag.Finding {
	n := f.Finding("value-from", "%s, which %s takes a value of, is not there", object, instance)
	n.Object, n.Why = object, "instance "+f.Instance+" is carried out, and it has not come"
	n.Fix = "correct object, or let " + f.Instance + " make it"
	return n
}

// Gone is the finding that the object a value comes from is deleted (object names it), though instance takes the value.
func (f From) Gone(object, instance string) *diag.Finding {
	n := f.Finding("value-from", "%s, which %s takes a value of, would be deleted", object, instance)
	n.Object, n.Why = object, "instance "+f.Instance+" declares it no longer"
	n.Fix = "declare it in " + f.Instance + " again, or take the value of " + instance + " away with it"
	return n
}

// Lost is the finding that what a reference leads to is taken away, and why, though instance takes the value.
func (f From) Lost(instance, why string) *diag.Finding {
	n := f.Finding("value-from", "%s, which %s takes, would be gone", f.Ref, instance)
	n.Object, n.Why = f.Secret.String(), why
	n.Fix = "leave it there, or take the reference of " + instance + " away with it"
	return n
}

// Suspended is the finding that the object a value comes from is not there, or does not hold it (object names it), and that the instance which would
// make it is suspended, though instance takes the value.
func (f From) Suspended(object, instance string) *diag.Finding {
	n := f.Finding("suspended-dependency", "%s takes a value of %s, which is not there, and %s, which makes it, is suspended", instance, object, f.Instance)
	n.Object, n.Fix = object, "let "+f.Instance+" be delivered, or suspend "+instance+" too"
	return n
}

// CodeUnread is the code of findings about objects that may not, or can not, be read for their values.
const CodeUnread = "value-unread"

// Unread is the finding that the object a value comes from could not be read; denied: for want of the right to.
func (f From) Unread(object, why string, denied bool) *diag.Finding {
	n := f.Finding(CodeUnread, "%s of instance %s cannot be read", object, f.Instance)
	if n.Object, n.Why = object, why; denied {
		n.Fix = "grant the right to get it; hawser fleet check --print-rbac writes the rules"
	}
	return n
}

// CodeUnanswered is the code of findings about objects that could not be read for their values now, and may be when they are asked for again.
const CodeUnanswered = "value-unanswered"

// Unanswered is the finding that the cluster gave no answer about the object a value comes from.
func (f From) Unanswered(object, why string) *diag.Finding {
	n := f.Finding(CodeUnanswered, "%s of instance %s could not be read: the API server does not answer as it should", object, f.Instance)
	n.Object, n.Why, n.Fix = object, why, "run the same again when it does"
	return n
}

// Unasked reports whether a finding says that nobody knows the value, and not what it is.
func Unasked(n *diag.Finding) bool {
	return n != nil && (n.Code == CodeUnread || n.Code == CodeUnanswered)
}

// CodeStandIn is the code of findings about values that are not known where nothing is planned.
const CodeStandIn = "stand-in"

// Placeholder warns of a value that is not known where nothing is planned.
func (f From) Placeholder() diag.Finding {
	n := diag.Warnf(CodeStandIn, "the value is known only after %s", f.Instance)
	n.Why = "the object it comes from, or another one that the instance takes a value of, does not have it yet, or no cluster was asked: something else stands in for it"
	n.Pos, n.Path = f.Pos, "values."+f.At
	return n
}

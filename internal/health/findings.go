package health

import (
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Unseen says of an object, of an instance, that it cannot be looked at, and why.
func Unseen(ref object.Ref, instance, why string) diag.Finding {
	f := diag.Errorf("health", "the object cannot be looked at")
	f.Object, f.Instance, f.Why = ref.String(), instance, why
	return f
}

// Cut says of n objects that their turn did not come before the look at all ended, for the cause. None is named, as nothing is known
// against any; no objects, and no cause, are no finding.
func Cut(n int, cause error) diag.Findings {
	if n <= 0 || cause == nil {
		return nil
	}
	f := diag.Errorf("health", "the time was over before %d more objects were looked at", n)
	if n == 1 {
		f.What = "the time was over before one more object was looked at"
	}
	f.Why = cause.Error()
	return diag.Findings{f}
}

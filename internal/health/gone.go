package health

// DoneAndGone is what is said of an object that was done and went by itself.
const DoneAndGone = "done, and removed when its time to live was over"

// Gone judges an object that is not there any more. expires: it goes by itself when it is done (a Job with a time to
// live). last is how it was seen last, nil when nobody saw it; whole tells that it was so at its end. One that ended well
// is done, one that was deleted before is missing; where nobody saw the end, and no failure either, it is done: nothing
// else removes it by itself.
func Gone(last map[string]any, whole, expires bool) Status {
	missing := Status{State: Missing, Reason: "was deleted by somebody"}
	if !expires {
		return missing
	}
	if last != nil {
		switch st := job(last); {
		case st.State == Failed:
			return st
		case st.Reason == "completed":
		case whole, numberOr(last, 0, "status", "failed") > 0, condition(last, "FailureTarget").status == "True":
			return missing
		}
	}
	return Status{State: Ready, Reason: DoneAndGone}
}

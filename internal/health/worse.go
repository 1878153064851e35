package health

import "slices"

// Drifted is the state of an instance that is ready and of which somebody changed or removed declared values.
const Drifted = "drifted"

// ranks are the states of an instance, the worst last.
var ranks = []string{string(Ready), Drifted, string(Progressing), string(Terminating), string(Missing), string(Unknown), string(Failed)}

// Worse is the worse of an instance's state so far and that of one more object of it. What is not waited for (noWait) may
// take its time; an object without a state is ready by being there.
func Worse(so string, object State, drifted, noWait bool) string {
	s := string(object)
	if s == "" || noWait && s == string(Progressing) {
		s = string(Ready)
	}
	if drifted && s == string(Ready) {
		s = Drifted
	}
	if slices.Index(ranks, s) > slices.Index(ranks, so) {
		return s
	}
	return so
}

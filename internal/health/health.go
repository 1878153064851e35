// Package health decides from one object's content whether it is ready, still progressing or failed, and why.
// All functions are pure: times come in as arguments.
//
// health must not know clusters, clocks or how objects are read; what it looks at is handed to it.
package health

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// State of an object.
type State string

const (
	// Ready is Kubernetes' "current": what was asked for runs.
	Ready State = "ready"
	// Progressing may still get ready by waiting.
	Progressing State = "progressing"
	// Failed will not get ready by waiting, or its controller says it failed.
	Failed State = "failed"
	// Missing is not in the cluster.
	Missing State = "missing"
	// Unknown could not be looked at.
	Unknown State = "unknown"
	// Terminating is being deleted.
	Terminating State = "terminating"
)

// Status is the verdict on one object.
type Status struct {
	State State `json:"state"`
	// Reason is short and for people: "2 of 3 pods ready".
	Reason string `json:"reason,omitempty"`
	// Stalled is set when waiting cannot heal it (image not found, crash loop, unschedulable): the cluster fails
	// StalledAfter after it was first seen, not at --timeout.
	Stalled bool `json:"stalled,omitempty"`
	// Details are further lines: "pod api-6c9f-x2k, container api: ImagePullBackOff: ...".
	Details []string `json:"details,omitempty"`
}

// Lines are the texts of a status, the cause before what follows from it: what a pod says, or what makes waiting useless,
// stands before the reason. A detail in which the reason stands says both.
func (s Status) Lines() []string {
	var reason []string
	if s.Reason != "" && (len(s.Details) == 0 || !strings.Contains(s.Details[0], s.Reason)) {
		reason = []string{s.Reason}
	}
	if len(s.Details) > 0 && (s.Stalled || strings.HasPrefix(s.Details[0], "pod ")) {
		return slices.Concat(s.Details[:1], reason, s.Details[1:])
	}
	return slices.Concat(reason, s.Details)
}

// Line is the first two of the lines in one: "pod web-1, container web: ImagePullBackOff (1 old pod to go)".
func (s Status) Line() string {
	switch lines := s.Lines(); len(lines) {
	case 0:
		return ""
	case 1:
		return lines[0]
	default:
		return lines[0] + " (" + lines[1] + ")"
	}
}

// Settled is the status for who looks once and does not wait: what waiting cannot heal has failed.
func (s Status) Settled() Status {
	if s.Stalled && s.State == Progressing {
		s.State = Failed
	}
	return s
}

// Masked is the status with mask applied to its texts, but for our own reasons.
func (s Status) Masked(mask func(string) string) Status {
	s.Reason, s.Details = masked(s.Reason, mask), slices.Clone(s.Details)
	for i := range s.Details {
		s.Details[i] = mask(s.Details[i])
	}
	return s
}

// Check is one rule for the health of a kind, in one of two languages: CUE (Source, Timoni's #HealthCheck) or CEL.
type Check struct {
	Name string `json:"name,omitempty"`
	// Group and Kind choose the objects; Group may be a glob, Kind "" is every kind of the group. Object is a glob over
	// their names, "" any.
	Group  string `json:"group"`
	Kind   string `json:"kind,omitempty"`
	Object string `json:"object,omitempty"`
	// Source is CUE text of the closed check value: fields object, current, inProgress?, failed?.
	Source string `json:"source,omitempty"`
	// CEL are the expressions of a rule in CEL, nil for one in CUE.
	CEL *Expressions `json:"cel,omitempty"`
	// Layer is where the rule stands; "" is the module.
	Layer Layer    `json:"layer,omitempty"`
	Pos   diag.Pos `json:"-"`
	// Cluster is the one whose object is judged, by the name the fleet gives it; "" for none.
	Cluster string `json:"-"`
	// Recorded: it was read from a record, which the administrator of the record's cluster may have written.
	Recorded bool `json:"-"`
}

// UnmarshalJSON reads what a record holds: nothing else has checks in JSON. So that one is Recorded, whoever reads it.
func (c *Check) UnmarshalJSON(data []byte) error {
	type fields Check
	*c = Check{}
	err := json.Unmarshal(data, (*fields)(c))
	c.Recorded = true
	return err
}

// Expressions are CEL over `self`, the live object. Failed is asked first, then Progressing, then Ready; Message gives
// the reason shown while the object is not ready.
type Expressions struct {
	Ready       string `json:"ready"`
	Failed      string `json:"failed,omitempty"`
	Progressing string `json:"progressing,omitempty"`
	Message     string `json:"message,omitempty"`
}

// Layer is where a rule stands. Nearer to the object wins: in the order of the constants.
type Layer string

// The layers, nearest to the object first.
const (
	InInstance Layer = "instance"
	InModule   Layer = "module"
	InBundle   Layer = "bundle"
	InFleet    Layer = "fleet"
	BuiltIn    Layer = "built-in"
)

// Checker evaluates rules; health itself needs neither CUE nor CEL.
type Checker interface {
	// Vet returns why a rule can never work: it does not compile, or is too big. nil when it can.
	Vet(c Check) error
	// Check returns the verdict and true when the check applies to the object. What the object does not say yet is
	// progressing; an error is a rule that does not fit the object.
	Check(c Check, obj map[string]any) (Status, bool, error)
}

// Checkers is a Checker that hands each rule to the one for its language; nil fields judge nothing.
type Checkers struct{ CUE, CEL Checker }

var _ Checker = Checkers{}

func (c Checkers) of(rule Check) Checker {
	if rule.CEL != nil {
		return c.CEL
	}
	return c.CUE
}

// Vet asks the rule's checker; a language without one is an error.
func (c Checkers) Vet(rule Check) error {
	if to := c.of(rule); to != nil {
		return to.Vet(rule)
	}
	return errors.New("nothing here evaluates the language of the rule")
}

// Check asks the rule's checker.
func (c Checkers) Check(rule Check, obj map[string]any) (Status, bool, error) {
	if to := c.of(rule); to != nil {
		return to.Check(rule, obj)
	}
	return Status{}, false, nil
}

// Rules are the checks in force for one instance on one cluster, in the order they are asked (see Ordered). The
// built-in ones come after them by themselves.
type Rules struct {
	Checks  []Check
	Checker Checker
	// Cluster is the one whose objects are judged.
	Cluster string
}

// On are the rules for objects of a cluster.
func (r Rules) On(cluster string) Rules {
	r.Cluster = cluster
	return r
}

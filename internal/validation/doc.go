// Package validation checks objects against what a cluster publishes of its kinds, before anything is written: fields, types,
// what is wanted and what may be chosen, each problem at the user's own line. The documents come from the cluster, from what is
// kept of it, or from a snapshot of its facts.
//
// validation must not know how a plan is made, and which objects of it are worth checking.
package validation

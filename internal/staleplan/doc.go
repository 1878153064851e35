// Package staleplan says in what a cluster is not as a plan saw it: a saved plan beside the one that is computed now, and a
// plan beside what is there right before it is carried out. What was agreed to is what is done, or nothing is.
//
// A plan goes by our own managed fields entry of an object, so that statuses, and fields that are nobody's business, may
// move. Where it writes over values of others, or an object goes that others have fields of, those count too.
//
// staleplan must not know how a plan is computed, saved or carried out.
package staleplan

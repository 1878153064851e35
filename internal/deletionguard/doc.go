// Package deletionguard decides which deletions of an apply need their exact number confirmed, because they are more often
// a mistake than meant: many, dear, or everything that an instance or the bundle had. It is a function of plans: the same
// whatever is selected and whoever asks.
//
// deletionguard must not know how a plan is made, shown or confirmed.
package deletionguard

// Package deletionguard decides which deletions of an apply need their exact number confirmed, because they are more often
// a mistake than meant: many, dear, or everything that an instance or the bundle had; and which cannot be, because the same plan
// makes something in what goes. It is a function of plans: the same
// whatever is selected and whoever asks.
//
// deletionguard must not know how a plan is made, shown or confirmed.
package deletionguard

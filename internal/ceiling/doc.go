// Package ceiling has the kernel bound the memory of the process while something is evaluated that nobody can cancel.
//
// It must not know what is evaluated.
package ceiling

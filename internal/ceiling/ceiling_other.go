//go:build !linux

package ceiling

// Hold is Linux's: elsewhere the kernel bounds nothing.
func Hold(uint64) (lift func()) { return func() {} }

// Without runs what starts a program.
func Without(start func() error) error { return start() }

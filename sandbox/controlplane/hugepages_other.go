//go:build !linux

package controlplane

// hugePages does nothing here.
func hugePages() {}

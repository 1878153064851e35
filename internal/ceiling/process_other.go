//go:build !linux

package ceiling

import "time"

// AddressSpace is Linux's: elsewhere the kernel bounds nothing.
func AddressSpace(uint64) {}

// ProcessorTime is Linux's.
func ProcessorTime(time.Duration) {}

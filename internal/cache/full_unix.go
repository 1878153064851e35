//go:build unix

package cache

import (
	"errors"
	"syscall"
)

// full reports whether an error says that a disk, or a share of it, is full.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

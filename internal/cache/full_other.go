//go:build !unix

package cache

import (
	"errors"
	"syscall"
)

// Windows' ERROR_DISK_FULL and ERROR_HANDLE_DISK_FULL.
const diskFull, handleDiskFull = syscall.Errno(112), syscall.Errno(39)

// full reports whether an error says that a disk is full.
func full(err error) bool { return errors.Is(err, diskFull) || errors.Is(err, handleDiskFull) }

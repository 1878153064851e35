package startup

import "syscall"

// closedOnStart is closeOnStart in one step, where the kernel has it (5.11): close_range with CLOSE_RANGE_CLOEXEC.
func closedOnStart() bool {
	const closeRange, closeOnExec = 436, 1 << 2
	_, _, err := syscall.RawSyscall(closeRange, 3, uintptr(^uint32(0)), closeOnExec)
	return err == 0
}

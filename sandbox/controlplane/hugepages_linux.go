package controlplane

import (
	"runtime/debug"
	"syscall"
	"unsafe"
)

// hugePages makes the heap grow to about what a control plane uses, in huge pages where the kernel gives them to who asks: asking for each page
// of 4 KiB is a good part of the time that a start takes. What is not used of it is no memory. Hawser's package startup does the same.
func hugePages() {
	const size, page = 252 << 20, 2 << 20
	memory := make([]byte, size)
	start := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	from, to := (start+page-1)&^(page-1), (start+size)&^(page-1)
	_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_HUGEPAGE)
	memory = nil
	debug.FreeOSMemory()
}

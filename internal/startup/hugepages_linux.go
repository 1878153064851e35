package startup

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"
)

const (
	// reserved is how much of the heap comes in huge pages: about what a run of the command line may use (cmd/hawser's limit).
	reserved = 124 << 20
	hugePage = 2 << 20
)

// A run is short, and its heap grows from nothing: where the kernel hands out huge pages only to who asks (the usual setting), it is given in
// pages of 4 KiB, and a fifth to a third of a run's processor time goes into asking for each. Go's runtime has no setting for it. So the heap is
// made to grow once by one piece of memory that nobody writes to, the kernel is told that huge pages are welcome there, and the piece is
// given back to the heap, which takes from it from then on. Only what is then used is memory. GODEBUG=disablethp=1 leaves it alone.
func init() {
	if strings.Contains(os.Getenv("GODEBUG"), "disablethp=1") {
		return
	}
	if !bytes.Contains(kernelSetting("/sys/kernel/mm/transparent_hugepage/enabled"), []byte("[madvise]")) {
		return
	}
	for _, space := range []int{syscall.RLIMIT_AS, syscall.RLIMIT_DATA} {
		var given syscall.Rlimit
		if err := syscall.Getrlimit(space, &given); err != nil || given.Cur < 1<<40 {
			return // who is given little space needs it for other things
		}
	}
	if bytes.HasPrefix(kernelSetting("/proc/sys/vm/overcommit_memory"), []byte("2")) {
		return // what is asked for counts there, used or not
	}
	adviseHugePages(make([]byte, reserved))
	debug.FreeOSMemory()
}

// adviseHugePages tells the kernel that memory may come in huge pages, as far as it is made of whole ones. What it answers changes nothing.
func adviseHugePages(memory []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	from := (start + hugePage - 1) &^ (hugePage - 1)
	to := (start + uintptr(len(memory))) &^ (hugePage - 1)
	_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_HUGEPAGE)
}

// kernelSetting is what a small file of the kernel's holds, nothing where it cannot be read.
func kernelSetting(name string) []byte {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = syscall.Close(fd) }()
	text := make([]byte, 128)
	n, err := syscall.Read(fd, text)
	if err != nil {
		return nil
	}
	return text[:n]
}

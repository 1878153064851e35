//go:build linux && (amd64 || arm64)

package startup

import (
	"bytes"
	"os"
	"strings"
	"syscall"
)

const (
	// reserved is how much of the heap comes in huge pages: about what a run of the command line may use (cmd/hawser's limit). It is the
	// frame of deepFrame, a little less than the power of two that its stack is.
	reserved = 134152192
	hugePage = 2 << 20
)

// A run is short, and its heap grows from nothing: where the kernel hands out huge pages only to who asks (the usual setting), it is given in
// pages of 4 KiB, and a fifth to a third of a run's processor time goes into asking for each. Go's runtime has no setting for it. So the heap is
// made to grow once, by the stack of a goroutine that calls a function with a very large frame and writes nothing there; the kernel is told that
// huge pages are welcome in it, and when the goroutine ends the heap has the memory back at once, without a collection (which a piece of
// the heap would need; it costs a fifth of the start of a process). Only what is then used is memory. GODEBUG=disablethp=1 leaves it alone.
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
	reserve()
}

// reserve makes the heap grow. What the kernel answers changes nothing.
func reserve() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		sp := deepFrame()
		from, to := (sp+hugePage-1)&^(hugePage-1), (sp+reserved)&^(hugePage-1)
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_HUGEPAGE)
	}()
	<-done
}

// deepFrame says where the stack was while its frame was there: it has the following addresses, as many as are reserved.
func deepFrame() (sp uintptr)

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

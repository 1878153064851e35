package cuelang

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"

	"hawser.dev/hawser/internal/rootfs"
)

// ceiling is what the kernel lets the process have while something is evaluated.
var ceiling struct {
	mu      sync.Mutex
	holders int
	was     syscall.Rlimit
}

// holdCeiling has the kernel refuse memory beyond so many bytes more than the process has now, until all who hold it have
// lifted it. One allocation is made, and filled, before anybody can look: Go's collector waits for it, and a Watchdog for
// the collector. What the kernel refuses ends the process, as a crash: a Watchdog's limits are below it.
func holdCeiling(more uint64) (lift func()) {
	ceiling.mu.Lock()
	defer ceiling.mu.Unlock()
	if ceiling.holders == 0 && syscall.Getrlimit(syscall.RLIMIT_DATA, &ceiling.was) != nil {
		return func() {}
	}
	ceiling.holders++
	if have, ok := dataBytes(); ok {
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: min(ceiling.was.Cur, have+more), Max: ceiling.was.Max})
	}
	return func() {
		ceiling.mu.Lock()
		defer ceiling.mu.Unlock()
		if ceiling.holders--; ceiling.holders == 0 {
			_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &ceiling.was)
		}
	}
}

// dataBytes is the memory that RLIMIT_DATA counts: what is mapped to be written, whether it was or not.
func dataBytes() (uint64, bool) {
	text, err := rootfs.ReadFile("/proc/self/statm", 4096)
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 6 {
		return 0, false
	}
	pages, err := strconv.ParseUint(string(fields[5]), 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}

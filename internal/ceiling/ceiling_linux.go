package ceiling

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// held is what the kernel lets the process have while something is evaluated.
var held struct {
	mu      sync.Mutex
	holders int
	was     syscall.Rlimit
	now     syscall.Rlimit
}

// Hold has the kernel refuse memory beyond so many bytes more than the process has now, until all who hold it have
// lifted it. One allocation is made, and filled, before anybody can look: Go's collector waits for it, and a Watchdog for
// the collector. What the kernel refuses ends the process, as a crash: a Watchdog's limits are below it.
func Hold(more uint64) (lift func()) {
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.holders == 0 && syscall.Getrlimit(syscall.RLIMIT_DATA, &held.was) != nil {
		return func() {}
	}
	if held.holders++; held.holders == 1 {
		held.now = held.was
	}
	if have, ok := dataBytes(); ok {
		held.now = syscall.Rlimit{Cur: min(held.was.Cur, have+more), Max: held.was.Max}
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &held.now)
	}
	return func() {
		held.mu.Lock()
		defer held.mu.Unlock()
		if held.holders--; held.holders == 0 {
			_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &held.was)
		}
	}
}

// Without runs what starts a program: a program inherits what bounds who starts it, and what it takes is its own. Nothing that is
// held begins or ends meanwhile.
func Without(start func() error) error {
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.holders > 0 {
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &held.was)
		defer func() { _ = syscall.Setrlimit(syscall.RLIMIT_DATA, &held.now) }()
	}
	return start()
}

// dataBytes is the memory that RLIMIT_DATA counts: what is mapped to be written, whether it was or not.
func dataBytes() (uint64, bool) { return inUse(5) }

// inUse is one of the kernel's numbers about this process's memory: 0 is its address space, 5 what RLIMIT_DATA counts.
func inUse(field int) (uint64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) <= field {
		return 0, false
	}
	pages, err := strconv.ParseUint(string(fields[field]), 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}

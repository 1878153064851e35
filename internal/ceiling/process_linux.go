package ceiling

import (
	"syscall"
	"time"
)

// AddressSpace has the kernel refuse address space beyond so many bytes more than the process has now, for the rest of its life.
func AddressSpace(more uint64) {
	var was syscall.Rlimit
	have, ok := inUse(0)
	if !ok || syscall.Getrlimit(syscall.RLIMIT_AS, &was) != nil {
		return
	}
	limit := min(was.Max, have+more)
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: min(was.Cur, limit), Max: limit})
}

// ProcessorTime lets the process have so much more processor time from now on; then SIGXCPU is sent, every second.
func ProcessorTime(more time.Duration) {
	var used syscall.Rusage
	var was syscall.Rlimit
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil || syscall.Getrlimit(syscall.RLIMIT_CPU, &was) != nil {
		return
	}
	spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: min(was.Max, uint64((spent+more)/time.Second)+1), Max: was.Max})
}

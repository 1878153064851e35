package localprocess

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
)

// machine names this boot of this machine and the process namespace in it, so that process ids mean the same wherever
// it is equal; "" when that cannot be told. Sources: proc_sys_kernel(5) and pid_namespaces(7).
var machine = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + namespace
})

// started is when a process started, in the kernel's ticks since boot, so that a process id used again is noticed.
// ok is false when there is no such process, or it has ended and was not waited for. "" is an unknown start.
func started(pid int) (ticks string, ok bool) {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return "", false
	}
	stat, err := os.ReadFile("/proc/" + decimal(pid) + "/stat")
	if err != nil {
		return "", true
	}
	// pid (name) state ... : the name may hold anything, state is field 3 and starttime field 22, proc_pid_stat(5).
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return "", true
	}
	return fields[19], fields[0] != "Z" && fields[0] != "X"
}

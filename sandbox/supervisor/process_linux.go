package supervisor

import "syscall"

// dieWithParent makes the kernel kill the child when the supervisor dies, even while the child is suspended.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

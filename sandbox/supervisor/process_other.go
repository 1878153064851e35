//go:build !linux

package supervisor

import "syscall"

// dieWithParent leaves noticing the supervisor's death to the lifeline pipe: only Linux can do more.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

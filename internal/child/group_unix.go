//go:build unix

package child

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// apart starts the program as the leader of a group of its own.
func apart(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// end ends the group that the process leads.
func end(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

package child

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// apart starts the program in a group of its own: Ctrl-C is not sent to it.
func apart(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP
}

// end ends the process and what descends from it; where the system's own program for that is missing, the process alone.
func end(p *os.Process) error {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() == nil {
		return nil
	}
	return p.Kill()
}

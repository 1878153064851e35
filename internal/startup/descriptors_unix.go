//go:build unix

package startup

import (
	"os"
	"strconv"
	"syscall"
)

// What the caller left open is for this process: it may be named as /dev/fd/N, and the programs that are started, and the children of
// --isolate, have nothing to do with it. os/exec hands on what is named in ExtraFiles, and leaves alone whatever else there is.
func init() {
	if !closedOnStart() {
		closeOnStart()
	}
}

// mostDescriptors is how many are looked at where the system does not list them.
const mostDescriptors = 1024

// closeOnStart lets every descriptor but the standard ones end where another program begins.
func closeOnStart() {
	open, err := os.ReadDir("/dev/fd")
	for _, d := range open {
		if fd, err := strconv.Atoi(d.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	if err != nil {
		for fd := 3; fd < mostDescriptors; fd++ {
			syscall.CloseOnExec(fd) // which changes nothing where none is open
		}
	}
}

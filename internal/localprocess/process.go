// Package localprocess names a process so that another one on the same machine can see that it runs no more.
//
// It must not know what processes are named for.
package localprocess

import (
	"os"
	"strconv"
	"strings"
)

// ID names a process. The zero ID is that of one that cannot be told.
type ID struct {
	// Machine is this boot of this machine, and the process namespace in it.
	Machine string `json:"machine,omitempty"`
	// Process is the process's number and when it started.
	Process string `json:"process,omitempty"`
}

// Self is this process; zero where that cannot be told.
func Self() ID {
	m := machine()
	if m == "" {
		return ID{}
	}
	pid := os.Getpid()
	ticks, _ := started(pid)
	return ID{m, decimal(pid) + "/" + ticks}
}

// Gone reports that the process ran on this machine and runs no more. When in doubt it runs.
func (p ID) Gone() bool {
	m := machine()
	if m == "" || p.Machine != m {
		return false
	}
	id, ticks, _ := strings.Cut(p.Process, "/")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 {
		return false
	}
	now, runs := started(pid)
	return !runs || now != "" && ticks != "" && now != ticks
}

func decimal(n int) string { return strconv.Itoa(n) }

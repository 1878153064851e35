// Package startup prepares a process: what its caller left open is handed on to no program that it starts, and the heap is that
// of a short run. The garbage collector does not run while packages are initialized (what they make stays, and two collections
// of it are a tenth of what a short command takes), and on Linux the heap comes in huge pages. It imports next to nothing, so
// that it is initialized before most of what others make.
//
// startup must not know how much memory a run may take: cmd/hawser sets the collector when it begins.
package startup

import (
	"os"
	"runtime"
	"runtime/debug"
)

func init() {
	runtime.MemProfileRate = 0 // nothing of the product reads that profile
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(-1)
	}
}

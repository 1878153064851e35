package state

import (
	"fmt"
	"os"
	"syscall"
)

// ownedByUs refuses a directory that another user made before us.
func ownedByUs(dir string, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s: belongs to user %d, not to us: remove it", dir, st.Uid)
	}
	return nil
}

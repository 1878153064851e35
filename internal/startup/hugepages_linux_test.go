//go:build linux && (amd64 || arm64)

package startup

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"
)

// TestLittleMemory: where little may be mapped, a process starts all the same.
func TestLittleMemory(t *testing.T) {
	for _, limit := range []string{"-d 131072", "-v 4194304"} {
		cmd := exec.Command("sh", "-c", "ulimit "+limit+"; exec \"$0\" -test.run='^$'", os.Args[0])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("ulimit %s: %v\n%.500s", limit, err, out)
		}
	}
}

// TestHugePages: what is allocated after the start lies where the kernel hands out huge pages, and what nobody used is no memory.
func TestHugePages(t *testing.T) {
	if asked := kernelSetting("/sys/kernel/mm/transparent_hugepage/enabled"); !bytes.Contains(asked, []byte("[madvise]")) {
		t.Skipf("this kernel hands out huge pages to nobody, or to all: %s", asked)
	}
	memory := make([]byte, 8<<20)
	at := uintptr(unsafe.Pointer(&memory[len(memory)/2]))
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = maps.Close() }()
	advised, here, resident := false, false, 0
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			here = from <= at && at < to
		}
		var kib int
		if n, _ := fmt.Sscanf(lines.Text(), "Rss: %d kB", &kib); n == 1 && here {
			resident = kib
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && here {
			advised = strings.Contains(flags, " hg")
		}
	}
	if !advised || resident > reserved/2>>10 {
		t.Errorf("advised: %v; of %d MiB %d KiB are resident", advised, reserved>>20, resident)
	}
}

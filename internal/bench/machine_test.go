//go:build bench

package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine says what was measured on.
func machine() string {
	load := strings.Fields(firstLine("/proc/loadavg"))
	if len(load) == 0 {
		load = []string{"?"}
	}
	return fmt.Sprintf("Machine: %s, %d cores, %s memory; Linux %s; %s; load at the end %s", field("/proc/cpuinfo", "model name"),
		runtime.NumCPU(), memory(), firstLine("/proc/sys/kernel/osrelease"), runtime.Version(), load[0])
}

func memory() string {
	var kb int
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kb); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d GiB", (kb+(1<<19))>>20)
}

// field is the value behind "name:" in a file of /proc.
func field(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return "unknown"
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if key, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func firstLine(file string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return line
}

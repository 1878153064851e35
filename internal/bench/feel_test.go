//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestFeel is the rest of row 7: how soon the command line says something.
func TestFeel(t *testing.T) {
	f := fleetOf(t, 3)
	u := newUser(t, f.Kubeconfig())
	u.module()
	u.write("fleet.yaml", fleetFile(f.Names(), 0))
	u.write("bundle.yaml", moduleBundle("feel", "feel", instances, true))
	var help, plan, planned []time.Duration
	for range max(reps(), 5) {
		help = append(help, u.hawser("--help").Wall)
		plan = append(plan, firstOutput(u, "plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml"))
		planned = append(planned, u.hawser("plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml").Wall)
	}
	within(t, 7, "--help", help, 100*time.Millisecond)
	within(t, 7, "first output on a terminal: plan of 20 instances x 3 clusters", plan, 300*time.Millisecond)
	noted(t, 7, "that whole plan, in a pipe", spread(planned))
}

// firstOutput runs the product on a terminal and returns the time to the first byte it shows.
func firstOutput(u *user, args ...string) time.Duration {
	u.t.Helper()
	main, terminal, err := openTerminal()
	if err != nil {
		u.t.Fatal(err)
	}
	defer func() { _ = main.Close() }()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	_ = terminal.Close()
	buf := make([]byte, 4096)
	n, err := main.Read(buf)
	took := time.Since(start)
	if n == 0 {
		u.t.Fatalf("nothing was shown: %v", err)
	}
	for err == nil {
		_, err = main.Read(buf) // ends with EIO when the process does
	}
	if err := cmd.Wait(); err != nil {
		u.t.Fatalf("hawser on a terminal: %v\n%s", err, buf[:n])
	}
	return took
}

// openTerminal makes a pseudo-terminal of 120 columns and 40 rows (see pty(7)).
func openTerminal() (main, terminal *os.File, err error) {
	if main, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	var number, unlock int32
	size := [4]uint16{40, 120}
	for request, arg := range map[uintptr]unsafe.Pointer{syscall.TIOCGPTN: unsafe.Pointer(&number),
		syscall.TIOCSPTLCK: unsafe.Pointer(&unlock), syscall.TIOCSWINSZ: unsafe.Pointer(&size)} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, main.Fd(), request, uintptr(arg)); errno != 0 {
			return nil, nil, errno
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	return main, terminal, err
}

package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// LifelineFD is the file descriptor on which a control plane's process notices that its supervisor is gone: the
// read end of a pipe that nobody writes to.
const LifelineFD = 3

// process is a running control plane.
type process struct {
	cmd      *exec.Cmd
	lifeline *os.File
	started  time.Time
	done     chan struct{} // closed when the process is gone
}

// spawner starts processes from one operating system thread that never ends: Linux signals the death of a parent
// when the thread that forked ends, not the process.
type spawner struct{ work chan func() }

func newSpawner() *spawner {
	s := &spawner{work: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range s.work {
			f()
		}
	}()
	return s
}

// start runs this program again with the given arguments; its output goes to the end of logFile.
func (s *spawner) start(logFile string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{read}
	cmd.SysProcAttr = dieWithParent()
	result := make(chan error)
	s.work <- func() { result <- cmd.Start() }
	if err := <-result; err != nil {
		return nil, errors.Join(err, write.Close())
	}
	p := &process{cmd: cmd, lifeline: write, started: time.Now(), done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is told by its log
		_ = write.Close()
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) gone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process at once, also when it is suspended, and waits for it.
func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL) // an error means that it is gone already
	<-p.done
}

func (p *process) signal(sig syscall.Signal) error { return p.cmd.Process.Signal(sig) }

// tail is the last lines of a log that say something, for an error message.
func tail(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > 8192 {
		_, _ = f.Seek(-8192, io.SeekEnd)
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	all := strings.Split(string(bytes.TrimSpace(raw)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// ResidentBytes is the memory a process holds, 0 when it cannot be told.
func ResidentBytes(pid int) int64 {
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil {
		if f := strings.Fields(string(raw)); len(f) > 1 {
			pages, _ := strconv.ParseInt(f[1], 10, 64)
			return pages * int64(os.Getpagesize())
		}
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	kib, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kib << 10
}

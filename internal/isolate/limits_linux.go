package isolate

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/ceiling"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// withParent has the kernel end the child with its parent, also where that is killed.
func withParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// bound sets what the kernel bounds for the whole life of the child: its address space. A child whose processor time is over
// says so.
func bound(l cuelang.WatchLimits, ends func(diag.Finding)) {
	if l.HeapBytes > 0 {
		ceiling.AddressSpace(l.HeapBytes + 2<<30)
	}
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	broke.Go(func() {
		<-over
		ends(diag.Errorf(CodeTooLong, "evaluation takes more than %s of processor time", processorTime(l)))
	})
}

// more allows the processor time of one question.
func more(l cuelang.WatchLimits) {
	if l.Deadline > 0 {
		ceiling.ProcessorTime(processorTime(l))
	}
}

func processorTime(l cuelang.WatchLimits) time.Duration {
	return (l.Deadline + time.Second) * time.Duration(max(runtime.GOMAXPROCS(0), 1))
}

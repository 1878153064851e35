package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/state"
)

func (r *root) downCmd() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "End a sandbox and remove its data",
		Example: `  hawser-sandbox down
  hawser-sandbox down --name demo --keep-data`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, _, err := r.existing()
			if err != nil {
				return err
			}
			if err := down(cmd.Context(), dir, keep); err != nil {
				return err
			}
			what := "its data is removed"
			if keep {
				what = "its data is kept; `up` continues with it"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "sandbox %s is down; %s\n", r.name, what)
			return err
		},
	}
	cmd.Flags().BoolVar(&keep, "keep-data", false, "keep what the clusters hold; `up` continues with it")
	return cmd
}

// down ends the supervisor and returns when its process is gone. A supervisor that does not answer is killed, its
// clusters die with it.
func down(ctx context.Context, dir state.Dir, keep bool) error {
	unlock, err := lock(dir.Path(".."))
	if err != nil {
		return err
	}
	defer unlock()
	saved, err := dir.Load()
	if errors.Is(err, os.ErrNotExist) {
		return dir.Remove()
	}
	pid := 0
	if err == nil {
		pid = saved.PID
	}
	ask, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = control.NewClient(dir.ControlSocket()).Down(ask, control.DownRequest{KeepData: keep})
	if err != nil && !errors.Is(err, control.ErrNotRunning) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err := reap(pid, err == nil); err != nil {
		return err
	}
	if keep {
		return nil
	}
	return dir.Remove()
}

// reap waits for a supervisor that was told to end, and kills one that was not or does not.
func reap(pid int, told bool) error {
	for i := 0; isSupervisor(pid); i++ {
		if !told || i == 200 {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("supervisor %d: kill: %w", pid, err)
			}
			told = true
		}
		if i > 400 {
			return fmt.Errorf("supervisor %d does not end: end it by hand", pid)
		}
		time.Sleep(25 * time.Millisecond)
	}
	return nil
}

// isSupervisor says whether the process is one of ours: process ids are used again.
func isSupervisor(pid int) bool {
	if pid <= 0 || pid == os.Getpid() {
		return false
	}
	if st, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		if _, rest, ok := strings.Cut(string(st), ") "); ok && strings.HasPrefix(rest, "Z") {
			return false // it has ended, and its parent has yet to ask how
		}
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		if line, err = exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output(); err != nil {
			return false
		}
	}
	words := strings.FieldsFunc(string(line), func(r rune) bool { return r == 0 || r == ' ' || r == '\n' })
	ours := len(words) > 0 && strings.Contains(words[0], "hawser-sandbox")
	return ours && (slices.Contains(words, "supervise") || slices.Contains(words, "--attached"))
}

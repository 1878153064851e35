package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/controlplane"
	"hawser.dev/hawser/sandbox/state"
	"hawser.dev/hawser/sandbox/supervisor"
)

// lock makes two commands that begin or end a sandbox wait for each other. It leaves no file behind: it locks the
// directory itself.
func lock(path string) (unlock func(), err error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: lock: %w", path, err), d.Close())
	}
	return func() { _ = d.Close() }, nil // closing unlocks
}

// detach starts the supervisor as a session of its own and returns when it answers. What it says until it has a log
// of its own goes to a file without a name, so that nothing stays behind, however this process ends.
func detach(ctx context.Context, dir state.Dir, name string, client *control.Client) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	said, err := os.CreateTemp("", "hawser-sandbox")
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }()
	if err := os.Remove(said.Name()); err != nil {
		return err
	}
	cmd := exec.Command(self, "supervise", "--name", name, "--state-dir", filepath.Dir(string(dir)))
	cmd.Stdout, cmd.Stderr = said, said
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		if _, err := client.Status(ctx); err == nil {
			return nil
		}
		select {
		case <-done:
			raw, err := io.ReadAll(io.NewSectionReader(said, 0, 1<<20))
			return errors.Join(fmt.Errorf("sandbox %s: the supervisor ended at once: %s", name, raw), err)
		case <-ctx.Done():
			// It tidies up after itself as it does after any failure.
			err := cmd.Process.Signal(syscall.SIGTERM)
			<-done
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (r *root) superviseCmd() *cobra.Command {
	return &cobra.Command{
		Use: "supervise", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := r.dir()
			if err != nil {
				return err
			}
			s, err := supervisor.New(supervisor.Options{Dir: dir, Name: r.name})
			if err != nil {
				return err
			}
			if err := logTo(dir.Log()); err != nil {
				return errors.Join(err, s.Run(ended()))
			}
			return s.Run(cmd.Context())
		},
	}
}

// logTo makes the standard streams of this process a file.
func logTo(path string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, fd := range []int{1, 2} {
		if err := unix.Dup2(int(log.Fd()), fd); err != nil {
			return os.NewSyscallError("dup2", err)
		}
	}
	return log.Close()
}

// ended is a context that is over.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func runClusterCmd() *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use: "run-cluster", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := controlplane.LoadConfig(config)
			if err != nil {
				return err
			}
			go endWithSupervisor()
			return controlplane.Run(cmd.Context(), c)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "the cluster's config.json")
	return cmd
}

// endWithSupervisor ends the process when the supervisor's end of the lifeline is closed. There is nothing to tidy:
// the data is in etcd, which is gone too.
func endWithSupervisor() {
	lifeline := os.NewFile(supervisor.LifelineFD, "lifeline")
	if lifeline == nil {
		return
	}
	_, _ = lifeline.Read(make([]byte, 1)) // nobody writes: it returns at the end
	os.Exit(1)
}

// withParent ends the context when the pipe on standard input is closed or the parent process dies.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		go func() {
			buf := make([]byte, 512)
			for {
				if _, err := os.Stdin.Read(buf); err != nil {
					cancel()
					return
				}
			}
		}()
	}
	parent := os.Getppid()
	go func() {
		for ctx.Err() == nil && os.Getppid() == parent {
			time.Sleep(500 * time.Millisecond)
		}
		cancel()
	}()
	return ctx, cancel
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/state"
	"hawser.dev/hawser/sandbox/supervisor"
)

type upFlags struct {
	clusters, groups, runtimeConfig string
	workloads, attached             bool
	nodes                           int
}

func (r *root) upCmd() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start clusters, or add some to a running sandbox",
		Long: `up starts the clusters that are asked for and are not there yet, and returns when all of them are ready. It never
takes a cluster away and does not start one that was stopped with stop; a second up changes nothing.
If a cluster does not become ready, what this up began is taken back.

With --attached it stays in the foreground and ends, with everything it started, when it is interrupted, when the
pipe it has as standard input is closed, or when its parent dies.`,
		Example: `  hawser-sandbox up
  hawser-sandbox up --clusters 5
  hawser-sandbox up --clusters eu,us,asia --workloads=false
  hawser-sandbox up --name demo --groups staging=1,production=2`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&f.clusters, "clusters", "", "how many clusters, or their names (default 3)")
	cmd.Flags().StringVar(&f.groups, "groups", "", "groups with their number of clusters, as in staging=1,production=2")
	cmd.Flags().BoolVar(&f.workloads, "workloads", true, "run the scheduler, the workload controllers and simulated nodes")
	cmd.Flags().IntVar(&f.nodes, "nodes", 1, "simulated nodes per cluster")
	cmd.Flags().StringVar(&f.runtimeConfig, "runtime-config", "", "kube-apiserver's --runtime-config, as in batch/v1=false: what is off costs nothing")
	cmd.Flags().BoolVar(&f.attached, "attached", false, "stay in the foreground and end with the parent process")
	asJSON := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		js, err := asJSON()
		if err != nil {
			return err
		}
		if f.nodes < 1 || f.nodes > 100 {
			return fmt.Errorf("--nodes %d: from 1 to 100", f.nodes)
		}
		req, err := state.ParseRequest(f.clusters, f.groups)
		if err != nil {
			return err
		}
		u := &upRun{root: r, flags: f, req: req, json: js, out: cmd.OutOrStdout(), talk: cmd.ErrOrStderr(), workloadsSet: cmd.Flags().Changed("workloads")}
		return u.run(cmd.Context())
	}
	return cmd
}

// upRun is one run of up.
type upRun struct {
	*root
	flags        upFlags
	req          state.Request
	json         bool
	workloadsSet bool
	out, talk    io.Writer
}

func (u *upRun) run(ctx context.Context) error {
	dir, err := u.dir()
	if err != nil {
		return err
	}
	client, begun, err := u.supervisor(ctx, dir)
	if err != nil {
		return err
	}
	if u.flags.attached {
		return u.attached(ctx, dir)
	}
	err = u.grow(ctx, dir, client)
	if err != nil && begun == brandNew {
		// The context may be over: that is one of the reasons to be here.
		err = errors.Join(err, down(context.WithoutCancel(ctx), dir, false))
	} else if err != nil && begun == restarted {
		err = errors.Join(err, down(context.WithoutCancel(ctx), dir, true))
	}
	return err
}

// How the supervisor came to run.
type beginning int

const (
	wasRunning beginning = iota
	restarted
	brandNew
)

// supervisor makes sure that the sandbox has a running supervisor, unless it is to be attached.
func (u *upRun) supervisor(ctx context.Context, dir state.Dir) (*control.Client, beginning, error) {
	if err := os.MkdirAll(dir.Path(".."), 0o700); err != nil {
		return nil, 0, err
	}
	unlock, err := lock(dir.Path(".."))
	if err != nil {
		return nil, 0, err
	}
	defer unlock()
	client := control.NewClient(dir.ControlSocket())
	_, err = client.Status(ctx)
	switch {
	case err == nil && u.flags.attached:
		return nil, 0, fmt.Errorf("sandbox %q runs already: it cannot be attached to this process; choose another --name", u.name)
	case err == nil:
		return client, wasRunning, nil
	case !errors.Is(err, control.ErrNotRunning):
		return nil, 0, err
	}
	begun := restarted
	saved, err := dir.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		begun = brandNew
	case err != nil:
		return nil, 0, err
	case saved.Attached:
		// Its end came too suddenly to tidy up; what it held was not to be kept.
		if err := dir.Remove(); err != nil {
			return nil, 0, err
		}
		begun = brandNew
	case u.flags.attached:
		return nil, 0, fmt.Errorf("sandbox %q has data that was kept, and an attached one keeps none: choose another --name, or remove it with `down`", u.name)
	}
	if u.flags.attached {
		return nil, begun, nil
	}
	return client, begun, detach(ctx, dir, u.name, client)
}

// attached runs the supervisor in this process.
func (u *upRun) attached(ctx context.Context, dir state.Dir) error {
	ctx, cancel := withParent(ctx)
	defer cancel()
	s, err := supervisor.New(supervisor.Options{Dir: dir, Name: u.name, Attached: true})
	if err != nil {
		return err
	}
	var upErr error
	go func() {
		upErr = u.grow(ctx, dir, control.NewClient(dir.ControlSocket()))
		if upErr != nil {
			cancel()
		}
	}()
	err = s.Run(ctx)
	if upErr != nil && errors.Is(upErr, context.Canceled) {
		return err
	}
	return errors.Join(upErr, err)
}

// grow asks the supervisor for the clusters that are missing and says what there is then.
func (u *upRun) grow(ctx context.Context, dir state.Dir, client *control.Client) error {
	saved, err := dir.Load()
	if err != nil {
		return err
	}
	missing := u.missing(saved)
	total := len(saved.Clusters) + len(missing)
	if len(missing) > 0 {
		fmt.Fprintf(u.talk, "sandbox %s: starting %d cluster(s)\n", u.name, len(missing))
	}
	begun := time.Now()
	err = client.Up(ctx, control.UpRequest{Clusters: missing}, func(p control.Progress) {
		fmt.Fprintf(u.talk, "  %-16s %s\n", p.Cluster, p.Message)
	})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		fmt.Fprintf(u.talk, "sandbox %s: %d cluster(s) ready after %.1fs\n", u.name, total, time.Since(begun).Seconds())
	} else {
		fmt.Fprintf(u.talk, "sandbox %s: %d cluster(s), nothing to add\n", u.name, total)
	}
	return u.report(ctx, dir, client)
}

func (u *upRun) missing(saved *state.Sandbox) []state.Cluster {
	req := u.req
	if req.Count == 0 && len(req.Names) == 0 && len(req.Groups) == 0 && len(saved.Clusters) == 0 {
		req.Count = 3
	}
	missing := req.Missing(saved.Clusters)
	workloads := u.flags.workloads
	if !u.workloadsSet && len(saved.Clusters) > 0 {
		workloads = saved.Clusters[0].Workloads // a sandbox grows as it began
	}
	for i := range missing {
		missing[i].Workloads, missing[i].RuntimeConfig = workloads, u.flags.runtimeConfig
		if workloads {
			missing[i].Nodes = u.flags.nodes
		}
	}
	return missing
}

// Ready is what `up -o json` prints when all clusters are ready.
type Ready struct {
	control.Status
	Kubeconfig string `json:"kubeconfig"`
	Fleet      string `json:"fleet"`
	Socket     string `json:"socket"`
}

func (u *upRun) report(ctx context.Context, dir state.Dir, client *control.Client) error {
	if !u.json {
		_, err := fmt.Fprintf(u.out, "\nNext:\n  export KUBECONFIG=%s\n  hawser plan -f BUNDLE --fleet %s\n", dir.Kubeconfig(), dir.FleetCUE())
		return err
	}
	st, err := client.Status(ctx)
	if err != nil {
		return err
	}
	return printJSON(u.out, Ready{*st, dir.Kubeconfig(), dir.FleetCUE(), dir.ControlSocket()})
}

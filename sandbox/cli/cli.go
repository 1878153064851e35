// Package cli spells the commands of hawser-sandbox: it reads arguments, asks the supervisor, and prints.
//
// It must not know how a control plane runs; only the two hidden commands hand over to the packages that do.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/version"

	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/state"
)

// root holds what all commands share.
type root struct {
	name     string
	stateDir string
}

// New makes the command tree.
func New() *cobra.Command {
	// The Kubernetes packages register flags for all commands of a process; ours have only their own.
	pflag.CommandLine = pflag.NewFlagSet("hawser-sandbox", pflag.ContinueOnError)
	r := &root{}
	cmd := &cobra.Command{
		Use:   "hawser-sandbox",
		Short: "Real Kubernetes control planes on this machine, without Docker",
		Long: `hawser-sandbox runs real Kubernetes API servers on this machine, each with its own controllers, in seconds
and without Docker. With workloads a real scheduler places pods on simulated nodes, where they become ready without
containers; a pod whose image is named unpullable or crashing fails as such pods do.

Everything listens on 127.0.0.1 only and lives below $XDG_STATE_HOME/hawser/sandbox. What a sandbox holds is not
written through to the disk: it survives stop and start, not a power cut.`,
		Example: `  hawser-sandbox up --groups staging=1,production=2
  export KUBECONFIG=$(hawser-sandbox kubeconfig --path)
  kubectl --context staging-1 get namespaces
  hawser-sandbox stop production-2
  hawser-sandbox down`,
		Version:       version.Get().GitVersion,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&r.name, "name", "dev", "the sandbox")
	cmd.PersistentFlags().StringVar(&r.stateDir, "state-dir", "", "directory that holds the sandboxes (default $XDG_STATE_HOME/hawser/sandbox)")
	cmd.AddCommand(r.upCmd(), r.downCmd(), r.lsCmd(), r.statusCmd(), r.kubeconfigCmd(), r.fleetCmd(), r.logsCmd())
	cmd.AddCommand(r.verbCmds()...)
	cmd.AddCommand(r.faultCmd(), r.auditCmd(), r.superviseCmd(), runClusterCmd())
	return cmd
}

// rootDir is the directory that holds all sandboxes.
func (r *root) rootDir() (string, error) {
	if r.stateDir != "" {
		return filepath.Abs(r.stateDir)
	}
	return state.Root()
}

// dir is the directory of the sandbox that --name says. It need not exist.
func (r *root) dir() (state.Dir, error) {
	if err := state.CheckName("sandbox", r.name); err != nil {
		return "", err
	}
	base, err := r.rootDir()
	return state.Dir(filepath.Join(base, r.name)), err
}

// existing is the directory and the stored state of the sandbox that --name says.
func (r *root) existing() (state.Dir, *state.Sandbox, error) {
	dir, err := r.dir()
	if err != nil {
		return "", nil, err
	}
	saved, err := dir.Load()
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, saved, err
	}
	base, err := r.rootDir()
	if err != nil {
		return "", nil, err
	}
	names, err := state.List(base)
	if err != nil {
		return "", nil, err
	}
	if len(names) == 0 {
		return "", nil, fmt.Errorf("sandbox %q: there is none; make one with `hawser-sandbox up`", r.name)
	}
	return "", nil, fmt.Errorf("sandbox %q: there is none of that name; there are: %s; choose one with --name", r.name, strings.Join(names, ", "))
}

// client talks to the supervisor of the sandbox that --name says, and names the sandbox in the error when there is
// none.
func (r *root) client(ctx context.Context) (*control.Client, *control.Status, error) {
	dir, _, err := r.existing()
	if err != nil {
		return nil, nil, err
	}
	c := control.NewClient(dir.ControlSocket())
	st, err := c.Status(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return nil, nil, fmt.Errorf("sandbox %q is not running: start it with `hawser-sandbox up --name %s`, or remove it with `down`", r.name, r.name)
	}
	return c, st, err
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// outputFlag adds -o and returns where to find whether JSON was asked for.
func outputFlag(cmd *cobra.Command) func() (bool, error) {
	var format string
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return func() (bool, error) {
		if format != "text" && format != "json" {
			return false, fmt.Errorf("-o %s: text or json", format)
		}
		return format == "json", nil
	}
}

// printLine prints a value as one line of JSON.
func printLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

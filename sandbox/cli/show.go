package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/sandbox/control"
	"hawser.dev/hawser/sandbox/state"
	"hawser.dev/hawser/sandbox/supervisor"
)

func (r *root) lsCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "ls", Short: "List the sandboxes", Args: cobra.NoArgs,
		Example: "  hawser-sandbox ls\n  hawser-sandbox ls -o json",
	}
	asJSON := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		js, err := asJSON()
		if err != nil {
			return err
		}
		base, err := r.rootDir()
		if err != nil {
			return err
		}
		names, err := state.List(base)
		if err != nil {
			return err
		}
		all := []control.Status{}
		for _, n := range names {
			st, err := statusOf(cmd.Context(), state.Dir(filepath.Join(base, n)))
			if err != nil {
				return err
			}
			all = append(all, *st)
		}
		if js {
			return printJSON(cmd.OutOrStdout(), all)
		}
		return printSandboxes(cmd.OutOrStdout(), all)
	}
	return cmd
}

func (r *root) statusCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show the clusters of a sandbox", Args: cobra.NoArgs,
		Example: "  hawser-sandbox status\n  hawser-sandbox status --name demo -o json",
	}
	asJSON := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		js, err := asJSON()
		if err != nil {
			return err
		}
		dir, _, err := r.existing()
		if err != nil {
			return err
		}
		st, err := statusOf(cmd.Context(), dir)
		if err != nil {
			return err
		}
		if js {
			return printJSON(cmd.OutOrStdout(), st)
		}
		return printClusters(cmd.OutOrStdout(), st)
	}
	return cmd
}

// statusOf asks the supervisor, and reads the stored state where none runs.
func statusOf(ctx context.Context, dir state.Dir) (*control.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	st, err := control.NewClient(dir.ControlSocket()).Status(ctx)
	if !errors.Is(err, control.ErrNotRunning) {
		return st, err
	}
	saved, err := dir.Load()
	if err != nil {
		return nil, err
	}
	st = &control.Status{Name: saved.Name, Dir: string(dir), Created: saved.Created}
	for _, c := range saved.Clusters {
		st.Clusters = append(st.Clusters, control.ClusterStatus{
			Name: c.Name, Group: c.Group, Phase: control.PhaseStopped, URL: c.URL(), FaultURL: c.FaultURL(), Workloads: c.Workloads,
		})
	}
	return st, nil
}

func printSandboxes(w io.Writer, all []control.Status) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "There are no sandboxes. Make one with `hawser-sandbox up`.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tSTATE\tCLUSTERS\tMEMORY\tUPTIME")
	for _, s := range all {
		what, memory := "down", s.RSSBytes
		if s.Running {
			what = "running"
		}
		if s.Attached {
			what += ", attached"
		}
		for _, c := range s.Clusters {
			memory += c.RSSBytes
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", s.Name, what, len(s.Clusters), mib(memory), since(s.Since))
	}
	return t.Flush()
}

func printClusters(w io.Writer, s *control.Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLUSTER\tGROUP\tSTATE\tVERSION\tSERVER\tFAULT PROXY\tMEMORY\tUPTIME")
	for _, c := range s.Clusters {
		what := string(c.Phase)
		if c.Fault != nil {
			what += ", fault set"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.Group, what, c.Version, c.URL, c.FaultURL, mib(c.RSSBytes), since(c.Since))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "supervisor and etcd: %s, up %s; files in %s\n", mib(s.RSSBytes), since(s.Since), s.Dir)
	return err
}

func mib(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

func since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return time.Since(t).Round(time.Second).String()
}

func (r *root) kubeconfigCmd() *cobra.Command {
	var path bool
	var user string
	var groups []string
	cmd := &cobra.Command{
		Use: "kubeconfig", Short: "Print the kubeconfig, or one for another user", Args: cobra.NoArgs,
		Long: `kubeconfig prints the administrator's kubeconfig: a context per cluster, named like it, and one named CLUSTER-fault
that goes through the fault-injecting proxy. With --user it prints one with a new client certificate for that user,
who may do what RBAC grants.`,
		Example: `  export KUBECONFIG=$(hawser-sandbox kubeconfig --path)
  hawser-sandbox kubeconfig --user jane --group developers > jane.kubeconfig`,
	}
	cmd.Flags().BoolVar(&path, "path", false, "print the path of the file")
	cmd.Flags().StringVar(&user, "user", "", "make a certificate for this user")
	cmd.Flags().StringSliceVar(&groups, "group", nil, "a group of the user; repeatable")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, saved, err := r.existing()
		if err != nil {
			return err
		}
		if user == "" {
			if len(groups) > 0 {
				return errors.New("--group needs --user: the administrator's groups are fixed")
			}
			return printFile(cmd.OutOrStdout(), dir.Kubeconfig(), path)
		}
		if path {
			return errors.New("--path and --user do not go together: the kubeconfig of another user is printed, not kept")
		}
		id, err := supervisor.Identify(dir, user, groups...)
		if err != nil {
			return err
		}
		raw, err := state.Kubeconfig(saved.Clusters, id)
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(raw)
		return err
	}
	return cmd
}

func (r *root) fleetCmd() *cobra.Command {
	var path, asYAML bool
	cmd := &cobra.Command{
		Use: "fleet", Short: "Print the fleet file", Args: cobra.NoArgs,
		Example: "  hawser-sandbox fleet --yaml\n  hawser plan -f bundle.cue --fleet $(hawser-sandbox fleet --path)",
	}
	cmd.Flags().BoolVar(&path, "path", false, "print the path of the file")
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "the file in YAML instead of CUE")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, _, err := r.existing()
		if err != nil {
			return err
		}
		file := dir.FleetCUE()
		if asYAML {
			file = dir.FleetYAML()
		}
		return printFile(cmd.OutOrStdout(), file, path)
	}
	return cmd
}

func printFile(w io.Writer, file string, pathOnly bool) error {
	if pathOnly {
		_, err := fmt.Fprintln(w, file)
		return err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hawser.dev/hawser/sandbox/audit"
	"hawser.dev/hawser/sandbox/fault"
	"hawser.dev/hawser/sandbox/state"
	"hawser.dev/hawser/sandbox/supervisor"
)

// verbCmds are the commands that do one thing to one cluster.
func (r *root) verbCmds() []*cobra.Command {
	verbs := []struct{ verb, short, past string }{
		{"stop", "Kill a control plane as kill -9 would; its data survives", "is stopped"},
		{"start", "Start a stopped or crashed control plane again, on the same port", "is ready"},
		{"pause", "Suspend a control plane: connections stay open and nothing answers", "is paused"},
		{"resume", "Let a paused control plane go on", "goes on"},
	}
	var cmds []*cobra.Command
	for _, v := range verbs {
		cmds = append(cmds, &cobra.Command{
			Use: v.verb + " CLUSTER", Short: v.short, Args: cobra.ExactArgs(1),
			Example: "  hawser-sandbox " + v.verb + " production-1",
			RunE: func(cmd *cobra.Command, args []string) error {
				c, _, err := r.client(cmd.Context())
				if err != nil {
					return err
				}
				if err := c.Do(cmd.Context(), v.verb, args[0]); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "cluster %s %s\n", args[0], v.past)
				return err
			},
		})
	}
	return cmds
}

func (r *root) faultCmd() *cobra.Command {
	var s fault.Spec
	var latency time.Duration
	var clear bool
	cmd := &cobra.Command{
		Use:   "fault CLUSTER",
		Short: "Make the fault-injecting proxy before a cluster hurt requests",
		Long: `fault makes the proxy behind the context CLUSTER-fault delay, refuse, cut or swallow requests. The plain context
CLUSTER never goes through the proxy. A new fault replaces the one before it and counts from zero.

Of the requests that --match fits, --after N leaves the first N alone, --count N hurts that many, and --error-rate
hurts that share. A hurt request waits --latency first; then the first given of --hang, --cut, --drop and --status
happens to it. --error-rate alone answers 500.`,
		Example: `  hawser-sandbox fault eu --latency 200ms
  hawser-sandbox fault eu --error-rate 0.1 --status 429,500 --match 'PATCH configmaps'
  hawser-sandbox fault eu --cut after --after 3 --count 1 --match PATCH
  hawser-sandbox fault eu --clear`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&s.Match, "match", "", "words that must all fit: a method, or a part of the path and query")
	f.DurationVar(&latency, "latency", 0, "wait before anything else")
	f.Float64Var(&s.Rate, "error-rate", 0, "the share of the requests that is hurt, up to 1 (default all)")
	f.IntSliceVar(&s.Status, "status", nil, "answer with these codes, in turn")
	f.IntVar(&s.RetryAfter, "retry-after", 1, "seconds in Retry-After with 429 and 503; -1 leaves the header out")
	f.BoolVar(&s.Drop, "drop", false, "close the connection in the middle of the answer")
	f.StringVar(&s.Cut, "cut", "", "close the connection without an answer: before or after the API server did the request")
	f.BoolVar(&s.Hang, "hang", false, "never answer")
	f.Int64Var(&s.After, "after", 0, "leave the first N matching requests alone")
	f.Int64Var(&s.Count, "count", 0, "hurt N requests and no more (default no limit)")
	f.BoolVar(&clear, "clear", false, "hurt nothing any more")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.Latency = fault.Duration(latency)
		if s.Rate > 0 && len(s.Status) == 0 && !s.Drop && !s.Hang && s.Cut == "" && latency == 0 {
			s.Status = []int{500}
		}
		spec := &s
		if clear {
			spec = nil
		} else if err := s.Validate(); err != nil {
			return err
		}
		c, _, err := r.client(cmd.Context())
		if err != nil {
			return err
		}
		if err := c.SetFault(cmd.Context(), args[0], spec); err != nil {
			return err
		}
		what := "hurts requests"
		if clear {
			what = "hurts nothing"
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "context %s%s %s\n", args[0], state.FaultSuffix, what)
		return err
	}
	return cmd
}

func (r *root) auditCmd() *cobra.Command {
	var all, follow, offset bool
	var since, format string
	var from int64
	cmd := &cobra.Command{
		Use:   "audit CLUSTER",
		Short: "Print the requests an API server received, as JSON lines",
		Long: `audit prints one JSON line per request, from the API server's own audit log. A watch counts when it begins. Requests
of the control plane's own components are left out unless --all is given, health checks always.

To count what a command costs, note the offset before it and read from there after it.`,
		Example: `  hawser-sandbox audit eu --follow
  before=$(hawser-sandbox audit eu --offset); hawser apply -f shop.cue; hawser-sandbox audit eu --from $before | wc -l`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "also the requests of the control plane's own components")
	f.BoolVar(&follow, "follow", false, "go on printing what comes")
	f.BoolVar(&offset, "offset", false, "print the present end of the log, for --from")
	f.Int64Var(&from, "from", 0, "begin at this offset")
	f.StringVar(&since, "since", "", "leave out what came before: a time (RFC 3339) or an age (5m)")
	f.StringVarP(&format, "output", "o", "json", "json, the only format there is")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format != "json" {
			return fmt.Errorf("-o %s: audit prints json only", format)
		}
		dir, saved, err := r.existing()
		if err != nil {
			return err
		}
		if _, ok := saved.Find(args[0]); !ok {
			return fmt.Errorf("cluster %q: sandbox %s has none of that name", args[0], r.name)
		}
		path := dir.AuditLog(args[0])
		if offset {
			n, err := audit.Offset(path)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), n)
			return err
		}
		o := audit.Options{From: from, Ignore: supervisor.OwnUsers()}
		if all {
			o.Ignore = nil
		}
		if o.Since, err = parseSince(since, time.Now()); err != nil {
			return err
		}
		return printAudit(cmd, path, o, follow)
	}
	return cmd
}

func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if age, err := time.ParseDuration(s); err == nil {
		return now.Add(-age), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, fmt.Errorf("--since %q: give a time as in 2026-01-02T15:04:05Z, or an age as in 5m", s)
	}
	return t, nil
}

func printAudit(cmd *cobra.Command, path string, o audit.Options, follow bool) error {
	write := func(e audit.Entry) error { return printLine(cmd.OutOrStdout(), e) }
	for {
		next, err := audit.Read(path, o, write)
		if err != nil || !follow {
			return err
		}
		o.From = next
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (r *root) logsCmd() *cobra.Command {
	return &cobra.Command{
		Use: "logs [CLUSTER]", Short: "Print the log of a control plane, or of the supervisor", Args: cobra.MaximumNArgs(1),
		Example: "  hawser-sandbox logs\n  hawser-sandbox logs production-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, saved, err := r.existing()
			if err != nil {
				return err
			}
			path := dir.Log()
			if len(args) == 1 {
				if _, ok := saved.Find(args[0]); !ok {
					return fmt.Errorf("cluster %q: sandbox %s has none of that name", args[0], r.name)
				}
				path = dir.ClusterLog(args[0])
			}
			f, err := os.Open(path)
			if errors.Is(err, os.ErrNotExist) {
				return nil // nothing was logged
			}
			if err != nil {
				return err
			}
			_, err = io.Copy(cmd.OutOrStdout(), f)
			return errors.Join(err, f.Close())
		},
	}
}

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/reference"
	"hawser.dev/hawser/internal/report"
)

// unusedAfter is the age from which `cache prune` removes what was not used.
const unusedAfter = 30 * 24 * time.Hour

// cacheReport is what the commands about the cache print.
type cacheReport struct {
	V int `json:"v"`
	cache.Listing
}

func (s *session) cacheCommand() *cobra.Command {
	return parent("cache", "Look at fetched content that is kept, and remove it",
		`Fetched modules, charts and manifests are kept by digest, so that a digest is fetched once. What is read from the cache
is checked against its digest; it can be removed at any time. It is in $`+cache.EnvDir+`, else in "hawser" in the user's
cache directory.`,
		"  hawser cache ls\n  hawser cache prune --older-than 168h", s.cacheLsCommand(), s.cachePruneCommand())
}

// cacheCmd is a command about the cache; list is what it prints.
func (s *session) cacheCmd(use, short, long, example string, list func(cmd *cobra.Command, c *cache.Cache) (cache.Listing, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: reference.Nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkForm(s.opts.output, dataForms...); err != nil {
				return err
			}
			if s.Cache == nil {
				return usagef("this build has no cache")
			}
			c := s.Cache()
			listing, err := list(cmd, c)
			if err != nil && len(listing.Entries) == 0 {
				return err
			}
			r := cacheReport{report.DocumentVersion, listing}
			if perr := s.printData(r, func(report.Style) error { return s.printCache(cmd, r) }); perr != nil {
				return perr
			}
			return err
		}}
	s.opts.outputFlag(cmd.Flags(), dataForms...)
	return cmd
}

func (s *session) cacheLsCommand() *cobra.Command {
	return s.cacheCmd("ls", "List what is kept", "Ls lists what the cache keeps, last used first.", "  hawser cache ls\n  hawser cache ls -o json",
		func(cmd *cobra.Command, c *cache.Cache) (cache.Listing, error) { return c.Listing(cmd.Context()) })
}

func (s *session) cachePruneCommand() *cobra.Command {
	var policy cache.Policy
	var size string
	cmd := s.cacheCmd("prune", "Remove what is kept",
		`Prune removes what was not used for 30 days, or what the flags say, and lists it. What another process uses is left,
and counted. On a file system without locks, as on some networks, nobody can tell: there, what is younger than a day is left.`,
		"  hawser cache prune\n  hawser cache prune --older-than 168h --max-size 2Gi\n  hawser cache prune --all",
		func(cmd *cobra.Command, c *cache.Cache) (out cache.Listing, err error) {
			if size != "" {
				q, err := resource.ParseQuantity(size)
				if err != nil || q.Sign() <= 0 {
					return out, usagef("--max-size %s is no size\nFor example: 500Mi, 2Gi", size)
				}
				policy.MaxBytes = q.Value()
			}
			if cmd.Flags().Changed("older-than") && policy.OlderThan <= 0 {
				return out, usagef("--older-than needs a time, for example 168h\n--all removes everything")
			}
			if size == "" && !cmd.Flags().Changed("older-than") {
				policy.OlderThan = unusedAfter
			}
			return c.Prune(cmd.Context(), policy, s.Now())
		})
	cmd.Flags().DurationVar(&policy.OlderThan, "older-than", 0, "remove what was not used for that long, for example 168h (default 720h, unless --max-size is given)")
	cmd.Flags().StringVar(&size, "max-size", "", "remove what was used longest ago until the rest is no bigger, for example 2Gi")
	cmd.Flags().BoolVar(&policy.All, "all", false, "remove everything")
	return cmd
}

// printCache prints entries as a table with a total.
func (s *session) printCache(cmd *cobra.Command, r cacheReport) error {
	verb := "in"
	if cmd.Name() == "prune" {
		verb = "removed from"
	}
	var rows [][]string
	for _, e := range r.Entries {
		rows = append(rows, []string{string(e.Kind), e.Digest[:min(19, len(e.Digest))], bytesText(e.Bytes), agoText(s.Now().Sub(e.Used)), e.Source})
	}
	if err := s.table([]string{"KIND", "DIGEST", "SIZE", "USED", "SOURCE"}, rows, "USED", "SIZE"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "%s, %s %s %s%s\n", diag.Counted(len(r.Entries), "entry"), bytesText(r.Bytes), verb, r.Dir, r.Left())
	return err
}

// bytesText is a size for people.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// agoText is an age for people, in the largest unit.
func agoText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

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
		"  hawser cache ls\n  hawser cache prune --older-than 7d", s.cacheLsCommand(), s.cachePruneCommand())
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
	var age, size string
	cmd := s.cacheCmd("prune", "Remove what is kept",
		`Prune removes what was not used for 30 days, or what the flags say, and lists it. What another process uses is left,
and counted. On a file system without locks, as on some networks, nobody can tell: there, what is younger than a day is left.`,
		"  hawser cache prune\n  hawser cache prune --older-than 7d --max-size 2Gi\n  hawser cache prune --all",
		func(cmd *cobra.Command, c *cache.Cache) (out cache.Listing, err error) {
			policy.OlderThan = unusedAfter
			if size != "" {
				if policy.MaxBytes, err = cache.ParseSize(size); err != nil {
					return out, usagef("--max-size: %v\nFor example: 500Mi, 2Gi, 2GB", err)
				}
				policy.OlderThan = 0
			}
			if cmd.Flags().Changed("older-than") {
				if policy.OlderThan, err = cache.ParseAge(age); err != nil {
					return out, usagef("--older-than: %v\nFor example: 30d, 2w, 168h; --all removes everything", err)
				}
			}
			return c.Prune(cmd.Context(), policy, s.Now())
		})
	cmd.Flags().StringVar(&age, "older-than", "", "remove what was not used for that long, for example 7d or 168h (default 30d, unless --max-size is given)")
	cmd.Flags().StringVar(&size, "max-size", "", "remove what was used longest ago until the rest is no bigger, for example 2Gi or 2GB")
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
		rows = append(rows, []string{string(e.Kind), e.Digest[:min(19, len(e.Digest))], cache.SizeText(e.Bytes), cache.AgeText(s.Now().Sub(e.Used)), e.Source})
	}
	if err := s.table([]string{"KIND", "DIGEST", "SIZE", "USED", "SOURCE"}, rows, "USED", "SIZE"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "%s, %s %s %s%s\n", diag.Counted(len(r.Entries), "entry"), cache.SizeText(r.Bytes), verb, r.Dir, r.Left())
	return err
}

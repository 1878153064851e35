package module

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// ChartFile is what makes a directory a chart.
const ChartFile = "Chart.yaml"

// chartLimits bound a packed chart: more than Helm itself unpacks is no chart.
var chartLimits = archive.Limits{Bytes: 100 << 20, FileBytes: 16 << 20}

// PackedChart is the content of a chart's archive (.tgz), unpacked into the cache by the archive's digest. open gives
// the archive, verified by that digest: what is unpacked already is compared with it. The root is the directory that holds Chart.yaml.
// name is how the archive is shown in errors, which are *diag.FindingsError.
func PackedChart(ctx context.Context, c *cache.Cache, digest, name string, open func(context.Context) (io.ReadCloser, error)) (Content, error) {
	expect := func(ctx context.Context, _ []byte) ([]archive.File, error) {
		return archive.Sums(ctx, []archive.Source{func() (io.ReadCloser, error) { return open(ctx) }}, chartLimits)
	}
	tree, err := c.Tree(ctx, cache.Key{Digest: digest, Variant: "chart", Source: name}, expect, func(ctx context.Context, dir string) ([]byte, error) {
		in, err := open(ctx)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		return nil, archive.Extract(ctx, in, dir, chartLimits)
	})
	if refused, ok := errors.AsType[*archive.Error](err); ok {
		f := diag.Errorf("chart-archive", "chart %s is not taken", name)
		f.Why, f.Fix = err.Error(), "a chart is packed by `helm package`"
		if refused.Rule == archive.Other {
			f.Fix = "look at what is there, as a page to log in or an error often comes in the place of a file; " + f.Fix
		}
		return Content{}, diag.Findings{f}.Err()
	}
	if err != nil {
		return Content{}, err
	}
	return ChartBelow(Content{Root: tree.Root, Digest: digest, Files: tree.Files}, name)
}

// ChartBelow is the chart in an unpacked archive: the one directory at its top that holds all its files. An archive of
// another form is a *diag.FindingsError that shows name.
func ChartBelow(c Content, name string) (Content, error) {
	top := ""
	files := make([]string, 0, len(c.Files))
	for _, f := range c.Files {
		dir, rest, ok := strings.Cut(f, "/")
		if !ok || top != "" && dir != top {
			return Content{}, notAChart(name, fmt.Sprintf("%s lies outside the one directory an archive of a chart has", f))
		}
		top = dir
		files = append(files, rest)
	}
	out := c
	out.Root, out.Files = filepath.Join(c.Root, top), files
	return out, CompleteChart(files, name)
}

// CompleteChart refuses files (below a chart's root) without Chart.yaml, as a *diag.FindingsError that shows name.
func CompleteChart(files []string, name string) error {
	for _, f := range files {
		if path.Clean(f) == ChartFile {
			return nil
		}
	}
	return notAChart(name, "there is no "+ChartFile)
}

// ChartVersion is the version that a chart's own Chart.yaml says; ok is false when it says none that could stand in a line.
func ChartVersion(c Content) (version string, ok bool) {
	data, err := c.ReadFile(ChartFile, 1<<20)
	if err != nil {
		return "", false
	}
	var meta struct {
		Version string `json:"version"`
	}
	if cuelang.CheckAliases(ChartFile, data) != nil || yaml.Unmarshal(data, &meta) != nil {
		return "", false
	}
	if _, err := semver.NewVersion(meta.Version); err != nil || len(meta.Version) > 100 {
		return "", false // Helm refuses the chart later, and says why
	}
	return meta.Version, true
}

// versionLine is how Chart.yaml says its version.
var versionLine = lazyregexp.New(`(?m)^["']?version["']?\s*:`)

// ChartVersionLine is the line of the version in Chart.yaml, 0 when it cannot be said.
func ChartVersionLine(c Content) int {
	data, err := c.ReadFile(ChartFile, 1<<20)
	at := versionLine.FindIndex(data)
	if err != nil || at == nil {
		return 0
	}
	return 1 + bytes.Count(data[:at[0]], []byte("\n"))
}

func notAChart(name, why string) error {
	f := diag.Errorf("not-a-chart", "%s is not a chart", name)
	f.Why = why
	return diag.Findings{f}.Err()
}

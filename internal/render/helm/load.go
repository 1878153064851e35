package helm

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/once"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/valueschema"
)

// Limits of one chart with everything below it.
const (
	maxChartBytes = 100 << 20
	maxChartDepth = 16
)

// loaded is a chart as it was read: never changed, cloned for every render.
type loaded struct {
	chart *chart.Chart
	// sites are the calls of functions whose answer is kept; chance is set when any text of the chart has one.
	sites  []site
	chance bool
	// capabilities is set when some text of the chart names them.
	capabilities bool
	// schemas are those of the chart and its dependencies, by *chart.Chart.
	schemas valueschema.Cache
	// bytes is the size of its files.
	bytes int64
}

// maxKept is how many bytes of charts are kept; the ones not used for longest go first.
const maxKept = 2 * maxChartBytes

// newCharts keeps what was read by content digest.
func newCharts() *once.Map[string, *loaded] {
	return &once.Map[string, *loaded]{Most: maxKept, Weight: func(l *loaded) int64 { return l.bytes }}
}

// read is the request's chart, read once for each digest.
func (r *Renderer) read(ctx context.Context, req render.Request) (*loaded, error) {
	if req.Content.Digest == "" {
		return nil, diag.Findings{diag.Errorf("no-content", "the chart was not fetched")}.Err()
	}
	return r.charts.Get(ctx, req.Content.Digest, func() (*loaded, error) { return load(ctx, req, r.opts) })
}

// load reads the chart's files and those packed below charts/, all within one budget of bytes and files.
func load(ctx context.Context, req render.Request, opts Options) (*loaded, error) {
	l := &reader{bytes: maxChartBytes, files: opts.Limits.Files, fileBytes: int64(opts.Limits.SourceBytes)}
	files, err := l.directory(ctx, req)
	if err == nil {
		files, err = l.unpack(files, 0)
	}
	if err != nil {
		return nil, err
	}
	if err := aliased(req, files); err != nil {
		return nil, err
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, unreadable(err)
	}
	settle(c)
	out := &loaded{chart: c, capabilities: namesCapabilities(c), bytes: maxChartBytes - l.bytes}
	out.chance = textsAsk(c)
	if err := deepTemplate(c); err != nil {
		return nil, failure("template", "the chart's templates are not read: "+err.Error(), "")
	}
	out.sites = mark(c, nil)
	return out, installable(c)
}

// aliased refuses files that the library reads as YAML and whose aliases stand for more than a file may hold, those of
// charts below charts/ included.
func aliased(req render.Request, files []*archive.BufferedFile) error {
	root := displayRoot(req, &loaded{chart: &chart.Chart{Metadata: &chart.Metadata{}}})
	if root == "/" { // what the chart calls itself is not read yet
		root = ""
	}
	for _, f := range files {
		switch path.Base(f.Name) {
		case valuesFile, "Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock":
			if fs := cuelang.CheckAliases(root+f.Name, f.Data); fs != nil {
				return fs.Err()
			}
		}
	}
	return nil
}

// settle gives the charts below charts/ an order: the library leaves them in that of a Go map.
func settle(c *chart.Chart) {
	subs := slices.Clone(c.Dependencies())
	slices.SortStableFunc(subs, func(a, b *chart.Chart) int {
		if d := strings.Compare(a.Name(), b.Name()); d != 0 {
			return d
		}
		return strings.Compare(a.Metadata.Version, b.Metadata.Version)
	})
	for _, s := range subs {
		settle(s)
	}
	c.SetDependencies(subs...)
}

// reader takes files from one budget.
type reader struct {
	bytes, fileBytes int64
	files            int
}

func (l *reader) take(n int64) error {
	if l.files--; l.files < 0 {
		return failure("chart-too-large", "the chart holds too many files", "exclude what it does not need in .helmignore")
	}
	if l.bytes -= n; l.bytes < 0 {
		return failure("chart-too-large", fmt.Sprintf("the chart holds more than %d MiB", maxChartBytes>>20),
			"exclude what it does not need in .helmignore")
	}
	return nil
}

// directory reads Content.Files below Content.Root; no name and no link leads out of it.
func (l *reader) directory(ctx context.Context, req render.Request) ([]*archive.BufferedFile, error) {
	root, err := os.OpenRoot(req.Content.Root)
	if err != nil {
		return nil, unreadable(err)
	}
	defer root.Close()
	var out []*archive.BufferedFile
	for _, name := range slices.Sorted(slices.Values(req.Content.Files)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := l.file(root, name)
		if err != nil {
			return nil, err
		}
		out = append(out, &archive.BufferedFile{Name: name, Data: data})
	}
	return out, nil
}

func (l *reader) file(root *os.Root, name string) ([]byte, error) {
	in, err := root.Open(name)
	if err != nil {
		return nil, unreadable(err)
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return nil, unreadable(err)
	case !info.Mode().IsRegular():
		return nil, failure("chart-unreadable", name+" is not a regular file", "")
	case info.Size() > l.fileBytes:
		return nil, failure("chart-too-large", fmt.Sprintf("%s has more than %d MiB", name, l.fileBytes>>20), "")
	}
	if err := l.take(info.Size()); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, info.Size()))
	if err != nil {
		return nil, unreadable(err)
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
}

// unpacked is the ending of the directory that takes the place of an archive below charts/.
const unpacked = ".unpacked"

// unpack replaces archives below charts/ with what they hold, at every depth, so that the library finds directories
// alone and never unpacks anything outside the budget.
func (l *reader) unpack(files []*archive.BufferedFile, depth int) ([]*archive.BufferedFile, error) {
	if depth > maxChartDepth {
		return nil, failure("chart-too-large", fmt.Sprintf("charts are nested more than %d deep", maxChartDepth), "")
	}
	var out []*archive.BufferedFile
	for _, f := range files {
		if !isPacked(f.Name) {
			out = append(out, f)
			continue
		}
		inner, err := l.archive(f)
		if err == nil {
			inner, err = l.unpack(inner, depth+1)
		}
		if err != nil {
			return nil, err
		}
		for _, x := range inner {
			x.Name = path.Join(f.Name+unpacked, x.Name)
			out = append(out, x)
		}
	}
	return out, nil
}

// isPacked reports whether the file is a packed chart: PATH/charts/NAME.tgz, where all of PATH are charts in charts/.
func isPacked(name string) bool {
	dir, base := path.Split(name)
	if path.Ext(base) != ".tgz" || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") {
		return false
	}
	parts := strings.Split(strings.TrimSuffix(dir, "/"), "/")
	if len(parts)%2 == 0 {
		return false
	}
	for i, p := range parts {
		if i%2 == 0 && p != "charts" {
			return false
		}
	}
	return true
}

func (l *reader) archive(f *archive.BufferedFile) ([]*archive.BufferedFile, error) {
	name := path.Base(f.Name)
	zipped, err := gzip.NewReader(bytes.NewReader(f.Data))
	if err != nil {
		return nil, failure("chart-unreadable", fmt.Sprintf("%s is not a .tgz: %v", name, err), "")
	}
	// The sum of all that is unpacked is bounded before anything is kept of it.
	n, err := io.Copy(io.Discard, io.LimitReader(zipped, l.bytes+1))
	if err != nil {
		return nil, failure("chart-unreadable", fmt.Sprintf("%s is not a .tgz: %v", name, err), "")
	}
	if err := l.take(n); err != nil {
		return nil, err
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(f.Data))
	if err != nil {
		return nil, failure("chart-unreadable", fmt.Sprintf("%s: %v", name, err), "")
	}
	for range files {
		if err := l.take(0); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(files, func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

func unreadable(err error) error {
	return failure("chart-unreadable", "the chart cannot be read: "+err.Error(), "")
}

func failure(code, what, fix string) error {
	f := diag.Errorf(code, "%s", what)
	f.Fix = fix
	return diag.Findings{f}.Err()
}

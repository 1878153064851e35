// Package module is a source's content by digest: references, the Fetcher socket, and what was fetched.
//
// module must not know how content is rendered, nor clusters.
package module

import (
	"context"

	"hawser.dev/hawser/internal/cuelang"
)

// ChartScheme stands before the scheme of a reference to a chart that is no OCI artifact, so that charts have fetchers of
// their own: "chart+file:///PATH" (a directory or .tgz), "chart+https://HOST/REPOSITORY" with Chart.
const ChartScheme = "chart+"

// Reference names the content an instance wants.
type Reference struct {
	// URL is file://PATH (a directory or, for charts, a .tgz), oci://REGISTRY/REPOSITORY or https://...; a chart in an HTTP
	// repository is the URL of the repository, with Chart. Dir is where a relative path starts.
	URL, Dir string
	// Chart is the chart's name in an HTTP repository.
	Chart string
	// Version is an exact version, a tag or a range; Digest pins the content ("sha256:<hex>").
	Version, Digest string
	// Kept: the digest was looked up when Version had it, and is wanted whatever Version means by now.
	Kept bool
}

// Resolved is what a reference means right now.
type Resolved struct {
	// Version is exact: "1.4.2", a tag; of local content that of its Chart.yaml, or "0.0.0-devel".
	Version string
	// Digest pins the content: of the manifest (oci), of the file (web, charts), of the files (local).
	Digest string
}

// Content is fetched content on the local file system, pinned by the digest of everything a loader may read.
type Content struct {
	// Root is an absolute directory; it is never written.
	Root string
	// Digest is "sha256:<hex>". For local directories over the sorted (path, mode class, content) of every file below Root
	// that a loader may read; for fetched content Resolved.Digest.
	Digest string
	// Version is the content's version: of local content that of its Chart.yaml, or "0.0.0-devel".
	Version string
	// Files are the paths below Root, slash separated and sorted.
	Files []string
	// Annotations are those of an artifact's manifest; nil for others.
	Annotations map[string]string
	// Reading, when set, keeps what a renderer reads of this machine itself: everything in a run is made of one reading.
	Reading Reading
}

// Reading keeps what was read, by keys of whoever reads; errors are not kept. once.Map is one.
type Reading interface {
	Try(ctx context.Context, key any, read func() (any, error)) (any, error)
}

// ReadOnce reads through a Reading; nil reads anew.
func ReadOnce[T any](ctx context.Context, of Reading, key any, read func() (T, error)) (out T, err error) {
	if of == nil {
		return read()
	}
	got, err := of.Try(ctx, key, func() (any, error) { return read() })
	if err == nil {
		out = got.(T)
	}
	return out, err
}

// ReadFile reads one of the content's files, of at most limit bytes; no link leads out of Root, but to vendored CUE.
func (c Content) ReadFile(name string, limit int) ([]byte, error) {
	return cuelang.ReadFile(c.Root, name, limit)
}

// Fetcher is the socket for where content comes from.
type Fetcher interface {
	// Schemes the fetcher serves, for example "file".
	Schemes() []string
	// Resolve finds what the reference means now: a range becomes the newest version in it, a tag its digest. It may ask the
	// network; a reference with Digest is answered without, where that is possible.
	Resolve(ctx context.Context, ref Reference) (Resolved, error)
	// Fetch gets the content. A digest in the reference is checked, a mismatch is an error naming both digests; content
	// fetched earlier by that digest is taken from the cache without any request.
	Fetch(ctx context.Context, ref Reference) (Content, error)
}

// Package module is a source's content by digest: references, the Fetcher socket, and what was fetched.
//
// module must not know how content is rendered, nor clusters.
package module

import "context"

// Reference names the content an instance wants.
type Reference struct {
	// URL is file://PATH for now; Dir is where a relative path starts.
	URL, Version, Digest, Dir string
}

// Content is fetched content on the local file system, pinned by the digest of everything a loader may read.
type Content struct {
	// Root is an absolute directory; it is never written.
	Root string
	// Digest is "sha256:<hex>" over the sorted (path, mode class, content) of every file below Root that a loader may read.
	Digest string
	// Version is the content's version, "0.0.0-devel" for local directories.
	Version string
	// Files are the paths below Root, slash separated and sorted.
	Files []string
}

// Fetcher is the socket for sources of modules. Fetch checks a digest given in the reference and fails on a
// mismatch with an error naming both digests.
type Fetcher interface {
	// Schemes the fetcher serves, for example "file".
	Schemes() []string
	Fetch(ctx context.Context, ref Reference) (Content, error)
}

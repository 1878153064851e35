package module

import "context"

// Media types and annotations of artifacts, byte for byte those of Timoni, Flux and Helm.
const (
	// ModuleConfigType and ModuleContentType are what Timoni pushes and pulls, modules and other artifacts alike.
	ModuleConfigType  = "application/vnd.timoni.config.v1+json"
	ModuleContentType = "application/vnd.timoni.content.v1.tar+gzip"
	// ContentTypeAnnotation on a layer says what is in it: one of the Content values or any other word.
	ContentTypeAnnotation = "sh.timoni.content.type"
	// FluxConfigType and FluxContentType are what Flux pushes; its client pulls any first layer that is a tar+gzip.
	FluxConfigType  = "application/vnd.cncf.flux.config.v1+json"
	FluxContentType = "application/vnd.cncf.flux.content.v1.tar+gzip"
	// ChartConfigType and ChartContentType are Helm's.
	ChartConfigType  = "application/vnd.cncf.helm.config.v1+json"
	ChartContentType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

	// ContentModule is a module without what it vendors, ContentVendor its cue.mod, ContentGeneric anything else.
	ContentModule  = "module"
	ContentVendor  = "module/vendor"
	ContentGeneric = "generic"

	// The annotations of a manifest that Timoni and Flux show.
	VersionAnnotation  = "org.opencontainers.image.version"
	CreatedAnnotation  = "org.opencontainers.image.created"
	SourceAnnotation   = "org.opencontainers.image.source"
	RevisionAnnotation = "org.opencontainers.image.revision"
	ImagesAnnotation   = "sh.timoni.images"
)

// Schemes of the places an artifact may be at. The part after the scheme is REGISTRY/REPOSITORY with an optional :TAG
// or @DIGEST, or the path of a directory or file with an optional :TAG behind its last slash.
const (
	SchemeOCI     = "oci://"
	SchemeLayout  = "oci-layout://"
	SchemeArchive = "oci-archive://"
)

// Layer is one layer of an artifact: files of a directory as a reproducible tar+gzip.
type Layer struct {
	// MediaType of the layer, for example ModuleContentType.
	MediaType   string
	Annotations map[string]string
	// Root is the directory, Files the paths below it (slash separated, in any order).
	Root  string
	Files []string
}

// Artifact is what Push makes a manifest of. The same artifact has the same digest.
type Artifact struct {
	// ConfigType is the media type of the config, for example ModuleConfigType.
	ConfigType  string
	Layers      []Layer
	Annotations map[string]string
}

// PushOptions say under which names an artifact is pushed.
type PushOptions struct {
	// Tags are set to the artifact, besides the one in the URL.
	Tags []string
	// Immutable are those of the tags that must not change: one that has another digest is an error naming both, one
	// that has the same digest is none.
	Immutable []string
	// Private lets nobody but their owner read the archive or the layout that is written, from the beginning.
	Private bool
}

// Pushed is what a push did.
type Pushed struct {
	// Digest is the manifest's.
	Digest string
	// Tags are those that now have it. Unchanged is set when all of them had it before.
	Tags      []string
	Unchanged bool
}

// PullOptions choose what of an artifact is extracted.
type PullOptions struct {
	// Digest is what the manifest must have, "" for any.
	Digest string
	// ContentType chooses the layers with this ContentTypeAnnotation, "" all.
	ContentType string
}

// Pulled is what a pull got.
type Pulled struct {
	Digest, ConfigType string
	Annotations        map[string]string
	// Files are the paths below the directory, slash separated and sorted.
	Files []string
}

// Tag is a name in a repository.
type Tag struct {
	Name string `json:"name"`
	// Digest and Created (RFC 3339, from the manifest's annotation) are there when they were asked for.
	Digest  string `json:"digest,omitempty"`
	Created string `json:"created,omitempty"`
}

// ListOptions choose what List tells.
type ListOptions struct {
	// Details asks for digests and dates, one request a tag.
	Details bool
	// Limit is how many are told, the first in order; 0 means all.
	Limit int
	// Filter leaves tags out for which it is false; nil keeps all.
	Filter func(tag string) bool
}

// Registry is the socket for artifacts as wholes, at any of the schemes. Errors are *diag.FindingsError.
type Registry interface {
	// Push makes a manifest of the artifact and stores it at the URL, under its tag and those of the options.
	Push(ctx context.Context, url string, a Artifact, opts PushOptions) (Pushed, error)
	// Pull extracts the layers of an artifact (URL with tag or digest; without one, the tag latest) into dir, which must
	// not exist. Nothing is left there after an error.
	Pull(ctx context.Context, url, dir string, opts PullOptions) (Pulled, error)
	// List tells the tags of a repository: semantic versions first, newest first, then the other names. Where
	// single tags are broken, the tags come with an error that names those.
	List(ctx context.Context, url string, opts ListOptions) ([]Tag, error)
	// Tag gives the artifact at the URL more names and returns its digest.
	Tag(ctx context.Context, url string, tags ...string) (digest string, err error)
	// Copy stores the artifact at from under to, byte for byte, and returns what Push does.
	Copy(ctx context.Context, from, to string, opts PushOptions) (Pushed, error)
}

// Digests is the socket for what a URL of any of the schemes means now. Errors are *diag.FindingsError.
type Digests interface {
	// Digest is that of the manifest at the URL; without tag and digest, of the tag latest.
	Digest(ctx context.Context, url string) (string, error)
}

// Logins is the socket for credentials, kept as Docker keeps them: by the helper its configuration names.
type Logins interface {
	// Login checks the credentials with the registry (HOST[:PORT]) and stores them; they appear in no error.
	Login(ctx context.Context, registry, username, password string) error
	// Logout forgets the credentials of a registry; none being there is no error.
	Logout(ctx context.Context, registry string) error
}

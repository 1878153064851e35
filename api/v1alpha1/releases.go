package v1alpha1

import "strings"

// Releases say where the release records of a fleet are kept.
type Releases struct {
	Store ReleaseStore `json:"store"`
	// Encryption is of stores outside of the clusters; without a key each cluster keeps one of its own.
	Encryption ReleaseEncryption `json:"encryption,omitzero"`
	Pos        Position          `json:"-"`
}

// ReleaseStore is one of a few kinds. None of the fields set is the clusters' own Secrets.
type ReleaseStore struct {
	// File is a directory, S3 a bucket.
	File *FileReleases `json:"file,omitempty"`
	S3   *S3Releases   `json:"s3,omitempty"`
}

// Outside reports whether the fleet's records are kept outside of the clusters. A nil fleet keeps them there.
func (f *FleetSpec) Outside() bool { return f != nil && f.Releases.Outside() }

// Outside reports whether records are kept outside of the clusters. A nil Releases keeps them there.
func (r *Releases) Outside() bool { return r != nil && (r.Store.File != nil || r.Store.S3 != nil) }

// ReleaseEncryption says what records outside of the clusters are sealed with.
type ReleaseEncryption struct {
	// Key is a ref:// reference.
	Key string `json:"key,omitempty"`
}

// FileReleases keeps records in a directory, which may be shared over a network.
type FileReleases struct {
	// Path is relative to Dir, the directory of the file that has it; ~/ is the user's home.
	Path string `json:"path"`
	Dir  string `json:"-"`
}

// S3Releases keeps records in a bucket of Amazon S3, or of a server that speaks its protocol.
type S3Releases struct {
	Bucket string `json:"bucket"`
	// Prefix comes before the names of all objects.
	Prefix string `json:"prefix,omitempty"`
	// Region is that of the bucket, "" for AWS_REGION and what the bucket says; Endpoint is https://HOST[:PORT], "" for Amazon's.
	Region   string `json:"region,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	// Profile is of the shared AWS configuration.
	Profile string `json:"profile,omitempty"`
	// PathStyle puts the bucket into the path (true) or the host name (false); nil does what fits the endpoint.
	PathStyle *bool `json:"pathStyle,omitempty"`
	// Credentials sign the requests; nil takes those that AWS's own tools find.
	Credentials *S3Credentials `json:"credentials,omitempty"`
}

// S3Credentials are texts or ref:// references.
type S3Credentials struct {
	AccessKeyID     string `json:"accessKeyID"`
	SecretAccessKey string `json:"secretAccessKey"`
	SessionToken    string `json:"sessionToken,omitempty"`
}

// CheckBucket says why a text cannot be the name of a bucket, "" for one that can be.
func CheckBucket(s string) string {
	switch {
	case len(s) < 3 || len(s) > 63:
		return "a bucket's name has 3 to 63 characters"
	case strings.HasPrefix(s, "s3:") || strings.Contains(s, "/"):
		return "give the bucket's name alone; what comes before the objects' names is prefix"
	case strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" || strings.Trim(s, ".-") != s || strings.Contains(s, ".."):
		return "a bucket's name has small letters, digits, dots and hyphens, and begins and ends with a letter or digit"
	}
	return ""
}

// CheckEndpoint says why a text cannot be the endpoint of an S3 server, "" for one that can be.
func CheckEndpoint(s string) string {
	rest, tls := strings.CutPrefix(s, "https://")
	if !tls {
		var ok bool
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return "an endpoint is https://HOST or https://HOST:PORT"
		}
	}
	if rest = strings.TrimSuffix(rest, "/"); rest == "" || strings.ContainsAny(rest, "/?#@ ") {
		return "an endpoint is https://HOST or https://HOST:PORT, and nothing more; bucket and prefix have fields of their own"
	}
	return ""
}

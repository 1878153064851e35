package v1alpha1

import "strings"

// Releases say where the release records of a fleet are kept.
type Releases struct {
	Store ReleaseStore `json:"store" hawser:"required"`
	// Encryption is of stores outside of the clusters; without a key each cluster keeps one of its own.
	Encryption ReleaseEncryption `json:"encryption,omitzero"`
	Pos        Position          `json:"-"`
}

// ReleaseStore is one of a few kinds. None of the fields set is the clusters' own Secrets.
type ReleaseStore struct {
	// Cluster is the clusters' own Secrets, of which there is nothing more to say.
	Cluster struct{} `json:"cluster,omitzero"`
	// File is a directory, S3 and GCS are buckets, Azure is a container.
	File  *FileReleases  `json:"file,omitempty"`
	S3    *S3Releases    `json:"s3,omitempty"`
	GCS   *GCSReleases   `json:"gcs,omitempty"`
	Azure *AzureReleases `json:"azure,omitempty"`
}

// Outside reports whether the fleet's records are kept outside of the clusters. A nil fleet keeps them there.
func (f *FleetSpec) Outside() bool { return f != nil && f.Releases.Outside() }

// Outside reports whether records are kept outside of the clusters. A nil Releases keeps them there.
func (r *Releases) Outside() bool { return r != nil && r.Store != ReleaseStore{} }

// ReleaseEncryption says what records outside of the clusters are sealed with.
type ReleaseEncryption struct {
	// Key is a ref:// reference.
	Key string `json:"key,omitempty" hawser:"required,format=reference,empty=invalid-store"`
}

// FileReleases keeps records in a directory, which may be shared over a network.
type FileReleases struct {
	// Path is relative to Dir, the directory of the file that has it; ~/ is the user's home.
	Path string `json:"path" hawser:"required,dir,format=fleetPath,empty=invalid-store"`
	Dir  string `json:"-"`
}

// S3Releases keeps records in a bucket of Amazon S3, or of a server that speaks its protocol.
type S3Releases struct {
	Bucket string `json:"bucket" hawser:"required,format=bucket"`
	// Prefix comes before the names of all objects.
	Prefix string `json:"prefix,omitempty"`
	// Region is that of the bucket, "" for AWS_REGION and what the bucket says; Endpoint is https://HOST[:PORT], "" for Amazon's.
	Region   string `json:"region,omitempty"`
	Endpoint string `json:"endpoint,omitempty" hawser:"format=endpoint"`
	// Profile is of the shared AWS configuration.
	Profile string `json:"profile,omitempty"`
	// PathStyle puts the bucket into the path (true) or the host name (false); nil does what fits the endpoint.
	PathStyle *bool `json:"pathStyle,omitempty"`
	// Credentials sign the requests; nil takes those that AWS's own tools find.
	Credentials *S3Credentials `json:"credentials,omitempty"`
}

// S3Credentials are texts or ref:// references.
type S3Credentials struct {
	AccessKeyID     string `json:"accessKeyID" hawser:"required,format=textOrReference,empty=invalid-store"`
	SecretAccessKey string `json:"secretAccessKey" hawser:"required,format=secret,empty=invalid-store"`
	SessionToken    string `json:"sessionToken,omitempty" hawser:"format=secret,empty=invalid-store"`
}

// GCSReleases keeps records in a bucket of Google Cloud Storage.
type GCSReleases struct {
	Bucket string `json:"bucket" hawser:"required,format=gcsBucket"`
	// Prefix comes before the names of all objects.
	Prefix string `json:"prefix,omitempty"`
	// Endpoint is https://HOST[:PORT], "" for Google's.
	Endpoint string `json:"endpoint,omitempty" hawser:"format=endpoint"`
	// Credentials are a service account's; nil takes those that Google's own tools find.
	Credentials *GCSCredentials `json:"credentials,omitempty"`
}

// GCSCredentials are the key of a service account, as its JSON file holds it: one of the two.
type GCSCredentials struct {
	// Key is a text or a ref:// reference.
	Key string `json:"key,omitempty" hawser:"format=secret,empty=invalid-store"`
	// Path is a file, relative to Dir, the directory of the file that has it; ~/ is the user's home.
	Path string `json:"path,omitempty" hawser:"dir,format=fleetPath,empty=invalid-store"`
	Dir  string `json:"-"`
}

// AzureReleases keeps records in a container of Azure Blob Storage.
type AzureReleases struct {
	Account   string `json:"account" hawser:"required,format=account"`
	Container string `json:"container" hawser:"required,format=container"`
	// Prefix comes before the names of all blobs.
	Prefix string `json:"prefix,omitempty"`
	// Endpoint is https://HOST[:PORT][/ACCOUNT], "" for that of the account in Azure's public cloud.
	Endpoint string `json:"endpoint,omitempty" hawser:"format=azureEndpoint"`
	// Credentials are given; nil takes those that Azure's own tools find.
	Credentials *AzureCredentials `json:"credentials,omitempty"`
}

// AzureCredentials are a key of the account or a shared access signature, texts or ref:// references: one of the two.
type AzureCredentials struct {
	Key string `json:"key,omitempty" hawser:"format=secret,empty=invalid-store"`
	SAS string `json:"sas,omitempty" hawser:"format=secret,empty=invalid-store"`
}

// CheckBucket says why a text cannot be the name of a bucket, "" for one that can be.
func CheckBucket(s string) string {
	switch {
	case len(s) < 3 || len(s) > 63:
		return "a bucket's name has 3 to 63 characters"
	case strings.HasPrefix(s, "s3:") || strings.HasPrefix(s, "gs:") || strings.Contains(s, "/"):
		return "give the bucket's name alone; what comes before the objects' names is prefix"
	case strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" || strings.Trim(s, ".-") != s || strings.Contains(s, ".."):
		return "a bucket's name has small letters, digits, dots and hyphens, and begins and ends with a letter or digit"
	}
	return ""
}

// CheckGCSBucket is CheckBucket for Google Cloud Storage, whose buckets may have underscores.
func CheckGCSBucket(s string) string { return CheckBucket(strings.ReplaceAll(s, "_", "-")) }

// CheckAccount says why a text cannot be the name of an Azure storage account, "" for one that can be.
func CheckAccount(s string) string {
	if len(s) < 3 || len(s) > 24 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return "an account's name has 3 to 24 small letters and digits; its address is endpoint"
	}
	return ""
}

// CheckContainer says why a text cannot be the name of an Azure container, "" for one that can be.
func CheckContainer(s string) string {
	if problem := CheckBucket(s); problem != "" || strings.Contains(s, ".") || strings.Contains(s, "--") {
		return "a container's name has 3 to 63 small letters, digits and single hyphens, and begins and ends with a letter or digit; what comes before the blobs' names is prefix"
	}
	return ""
}

// CheckAzureEndpoint is CheckEndpoint with an account after the host, as emulators have it.
func CheckAzureEndpoint(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	host, account, _ := strings.Cut(rest, "/")
	if account = strings.TrimSuffix(account, "/"); ok && CheckAccount(account) == "" {
		s = scheme + "://" + host
	}
	return CheckEndpoint(s)
}

// CheckEndpoint says why a text cannot be the endpoint of a server, "" for one that can be.
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

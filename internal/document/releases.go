package document

import (
	"strings"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/secret"
)

var releaseStores = []string{"cluster", "file", "s3", "gcs", "azure"}

// releases reads where release records are kept.
func (d *decoder) releases(v cue.Value) *v1alpha1.Releases {
	out := &v1alpha1.Releases{Pos: d.apiPos(v)}
	for _, f := range d.demanded(v, []string{"store"}, "encryption") {
		if f.name == "store" {
			out.Store = d.releaseStore(f.value)
			continue
		}
		out.Encryption.Key = d.storeFields(f.value, "key!")["key"]
		d.reference(f.value, "key", out.Encryption.Key, diag.Error)
	}
	if out.Encryption.Key != "" && !out.Outside() && len(d.findings.Errors()) == 0 {
		d.errorf(v, "no-use", "encryption is of stores outside of the clusters: give store file, s3, gcs or azure")
	}
	return out
}

// releaseStore is `cluster`, or a struct with one kind.
func (d *decoder) releaseStore(v cue.Value) (out v1alpha1.ReleaseStore) {
	if x, _ := v.Default(); x.Kind() == cue.StringKind {
		if s, _ := d.str(v); s != "cluster" {
			n := diag.Errorf("unknown-store", "%q is no store of release records", d.mask(s))
			n.Fix = "cluster, file: {path: ...}, s3: {bucket: ...}, gcs: {bucket: ...} or azure: {account: ..., container: ...}"
			d.add(n, v)
		}
		return out
	}
	fields := d.fields(v, releaseStores)
	for _, f := range fields {
		switch f.name {
		case "cluster":
			d.fields(f.value, nil)
		case "file":
			out.File = &v1alpha1.FileReleases{Path: d.storeFields(f.value, "path!")["path"], Dir: d.storeDir(f.value)}
		case "s3":
			out.S3 = d.s3Releases(f.value)
		case "gcs":
			out.GCS = d.gcsReleases(f.value)
		case "azure":
			out.Azure = d.azureReleases(f.value)
		}
	}
	if len(fields) > 1 {
		d.errorf(v, "two-stores", "records are kept in one store, this has %s and %s", fields[0].name, fields[1].name)
	} else if all, ok := d.anyFields(v); ok && len(all) == 0 {
		d.errorf(v, "no-store", "nothing says what kind of store it is: give it one of %s", strings.Join(releaseStores, ", "))
	}
	return out
}

// bucketText is a text of a bucket's declaration, which must be what a check wants; check may be nil.
func (d *decoder) bucketText(f field, to *string, check func(string) string) {
	s, ok := d.str(f.value)
	if ok && check != nil && check(s) != "" {
		d.errorf(f.value, "invalid-store", "%s: %s", f.name, check(s))
	}
	*to = s
}

func (d *decoder) s3Releases(v cue.Value) *v1alpha1.S3Releases {
	out := &v1alpha1.S3Releases{}
	texts := map[string]*string{"bucket": &out.Bucket, "prefix": &out.Prefix, "region": &out.Region, "endpoint": &out.Endpoint, "profile": &out.Profile}
	checks := map[string]func(string) string{"bucket": v1alpha1.CheckBucket, "endpoint": v1alpha1.CheckEndpoint}
	for _, f := range d.demanded(v, []string{"bucket"}, "prefix", "region", "endpoint", "profile", "pathStyle", "credentials") {
		switch f.name {
		case "pathStyle":
			yes := d.boolean(f.value)
			out.PathStyle = &yes
		case "credentials":
			got := d.storeFields(f.value, "accessKeyID!", "secretAccessKey!", "sessionToken")
			out.Credentials = &v1alpha1.S3Credentials{AccessKeyID: got["accessKeyID"], SecretAccessKey: got["secretAccessKey"], SessionToken: got["sessionToken"]}
			d.reference(f.value, "accessKeyID", got["accessKeyID"], "")
			d.reference(f.value, "secretAccessKey", got["secretAccessKey"], diag.Warning)
			d.reference(f.value, "sessionToken", got["sessionToken"], diag.Warning)
		default:
			d.bucketText(f, texts[f.name], checks[f.name])
		}
	}
	if out.Profile != "" && out.Credentials != nil {
		d.errorf(v, "two-credentials", "s3 has profile or credentials, not both")
	}
	return out
}

func (d *decoder) gcsReleases(v cue.Value) *v1alpha1.GCSReleases {
	out := &v1alpha1.GCSReleases{}
	texts := map[string]*string{"bucket": &out.Bucket, "prefix": &out.Prefix, "endpoint": &out.Endpoint}
	checks := map[string]func(string) string{"bucket": v1alpha1.CheckGCSBucket, "endpoint": v1alpha1.CheckEndpoint}
	for _, f := range d.demanded(v, []string{"bucket"}, "prefix", "endpoint", "credentials") {
		if f.name != "credentials" {
			d.bucketText(f, texts[f.name], checks[f.name])
			continue
		}
		got := d.eitherOf(f.value, "key", "path")
		out.Credentials = &v1alpha1.GCSCredentials{Key: got["key"], Path: got["path"], Dir: d.storeDir(f.value)}
		d.reference(f.value, "key", got["key"], diag.Warning)
	}
	if out.Endpoint != "" && out.Credentials != nil && out.Credentials.Path != "" {
		d.errorf(v, "credentials-elsewhere", "the credentials of a file go to Google alone, and not to an endpoint: give credentials.key as a ref:// reference")
	}
	return out
}

func (d *decoder) azureReleases(v cue.Value) *v1alpha1.AzureReleases {
	out := &v1alpha1.AzureReleases{}
	texts := map[string]*string{"account": &out.Account, "container": &out.Container, "prefix": &out.Prefix, "endpoint": &out.Endpoint}
	checks := map[string]func(string) string{"account": v1alpha1.CheckAccount, "container": v1alpha1.CheckContainer, "endpoint": v1alpha1.CheckAzureEndpoint}
	for _, f := range d.demanded(v, []string{"account", "container"}, "prefix", "endpoint", "credentials") {
		if f.name != "credentials" {
			d.bucketText(f, texts[f.name], checks[f.name])
			continue
		}
		got := d.eitherOf(f.value, "key", "sas")
		out.Credentials = &v1alpha1.AzureCredentials{Key: got["key"], SAS: got["sas"]}
		d.reference(f.value, "key", got["key"], diag.Warning)
		d.reference(f.value, "sas", got["sas"], diag.Warning)
	}
	return out
}

// eitherOf reads credentials that are given in one of two ways.
func (d *decoder) eitherOf(v cue.Value, one, other string) map[string]string {
	got := d.storeFields(v, one, other)
	if all, ok := d.anyFields(v); ok && len(all) != 1 {
		d.errorf(v, "two-credentials", "credentials have either %s or %s", one, other)
	}
	return got
}

// reference checks a text that is secret: one that is no ref:// reference is a finding of a severity.
func (d *decoder) reference(v cue.Value, name, s string, plain diag.Severity) {
	at, _ := lookup(v, name)
	if _, err := secret.ParseRef(s); err != nil && secret.IsRef(s) {
		d.errorf(at, "invalid-ref", "%v", err)
	} else if err != nil && plain != "" && s != "" {
		n := diag.Finding{Severity: plain, Code: "plain-secret", What: name + " stands in the file for everybody who may read it"}
		n.Fix = "put it into one of the fleet's secretStores, and name it: " + name + ": ref://NAME"
		d.add(n, at)
	}
}

package document

import (
	"cmp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/specdecode"
)

// checkFleet checks what the clusters are together, and that each of them has its wave.
func checkFleet(d *reporter, s structure, f *v1alpha1.FleetSpec) {
	all := s.At("clusters")
	uids := map[string]string{}
	for _, c := range f.Clusters {
		if first, twice := uids[c.UID]; twice && c.UID != "" {
			d.Errorf(all.LookupPath(cue.MakePath(cue.Str(c.Name), cue.Str("uid"))), "duplicate-uid", "cluster %s has this uid too: two names of one cluster", first)
		}
		uids[c.UID] = c.Name
	}
	if f.Rollout != nil && !d.Findings.Unknown() {
		checkWaves(d, s.At("rollout"), f)
	}
}

func checkCluster(d *reporter, s structure, c *v1alpha1.ClusterSpec) {
	checkLabels(d, s.At("labels"), c.Labels)
	context, kubeconfig := s.Has("kubeContext"), s.Has("kubeconfig")
	switch {
	case s.Value.Path().Selectors()[0].String() == rootRuntime && !(context && s.Has("group")):
		for _, name := range []string{"group", "kubeContext"} {
			if !s.Has(name) {
				d.Require(s.Value, name)
			}
		}
	case context && kubeconfig:
		d.Fixf(s.Value, "kubeconfig takes a context, too: kubeconfig: {path: ..., context: ...}",
			"two-accesses", "a cluster has kubeContext or kubeconfig, not both")
	case !context && !kubeconfig && s.Sound: // else a field of another name may be meant
		noAccess(d, s.Value)
	}
}

func noAccess(d *reporter, v cue.Value) {
	n := diag.Errorf("no-access", "nothing says how the cluster is reached")
	n.Why, n.Fix = "the current context is never assumed for a declared cluster", "give it kubeContext or kubeconfig"
	d.Add(n, v)
}

func checkLabels(d *reporter, v cue.Value, labels map[string]string) {
	for name, value := range labels {
		at, _ := lookup(v, name)
		for _, why := range validation.IsQualifiedName(name) {
			d.Errorf(at, "invalid-label", "%q cannot be a label: %s", name, why)
		}
		for _, why := range validation.IsValidLabelValue(value) {
			d.Errorf(at, "invalid-label", "%q cannot be the value of a label: %s", value, why)
		}
	}
}

func checkWindow(d *reporter, s structure, w *v1alpha1.Window) {
	if s.Sound {
		d.AddAny(fleet.WrongWindow(w), s.Value)
	}
}

// checkWaves: every cluster is in exactly one wave, and every name in a wave means something.
func checkWaves(d *reporter, v cue.Value, f *v1alpha1.FleetSpec) {
	waves, _ := lookup(v, "waves")
	items := specdecode.Items(waves)
	before, read := len(d.Findings), true
	for i, w := range f.Rollout.Waves {
		if w.Groups == nil && w.Clusters == nil && w.ClusterSelector == nil {
			d.Fixf(items[i], "give it groups, clusters or clusterSelector", "no-clusters", "the wave does not say which clusters are in it")
			continue
		}
		groups := knownInWave(d, items[i], "groups", "group", fleet.Groups(f.Clusters))
		clusters := knownInWave(d, items[i], "clusters", "cluster", fleet.Names(f.Clusters))
		read = read && groups && clusters
	}
	sound := read && len(d.Findings) == before // else a cluster is in no wave because of what a wave says
	d.Findings = append(d.Findings, fleet.OutsideWaves(f, sound)...)
}

// knownInWave checks that patterns of a wave mean something; read is false where not all that stands there is a pattern.
func knownInWave(d *reporter, wave cue.Value, name, what string, have []string) (read bool) {
	list, there := lookup(wave, name)
	read = !there || list.IncompleteKind() == cue.ListKind
	for _, item := range specdecode.Items(list) {
		pattern, err := item.String()
		if err != nil {
			read = false
		} else if !fleet.AnyMatch(pattern, have) {
			fix := cmp.Or(diag.OneOf(pattern, have), "no cluster has one: write "+what+": NAME at the clusters that are meant")
			d.Fixf(item, fix, "unknown-"+what, "there is no %s %q", what, pattern)
		}
	}
	return read
}

var (
	storeKinds  = []string{"env", "file", "sops", "kube"}
	laterStores = []string{"vault", "aws", "gcp", "azure", "alicloud"}
	// releaseStores are the kinds of stores of release records.
	releaseStores = []string{"cluster", "file", "s3", "gcs", "azure"}
)

func checkSecretStore(d *reporter, s structure, _ *v1alpha1.SecretStore) {
	have := slices.DeleteFunc(slices.Concat(storeKinds, laterStores), func(kind string) bool { return !s.Has(kind) })
	switch {
	case len(s.Fields) == 0:
		d.Fixf(s.Value, "give it one of: "+strings.Join(storeKinds, ", "), "no-store", "nothing says what kind of store it is")
	case len(have) > 1:
		d.Errorf(s.Value, "two-stores", "a secret store is of exactly one kind, this one has %s", strings.Join(have, " and "))
	}
}

func checkAgeKeys(d *reporter, s structure, a *v1alpha1.AgeKeys) {
	if a.KeyFile != "" && a.KeyEnv != "" {
		d.Errorf(s.Value, "two-keys", "age has keyFile or keyEnv, not both")
	}
}

func checkReleases(d *reporter, s structure, r *v1alpha1.Releases) {
	if r.Encryption.Key != "" && !r.Outside() && len(d.Findings.Errors()) == 0 {
		d.Errorf(s.Value, "no-use", "encryption is of stores outside of the clusters: give store file, s3, gcs or azure")
	}
}

// storeWord reads `cluster`, which is a store of release records without anything more to say.
func storeWord(d *reporter, v cue.Value) bool {
	v, _ = v.Default()
	word, err := v.String()
	if err == nil && word != "cluster" {
		d.Fixf(v, "cluster, file: {path: ...}, s3: {bucket: ...}, gcs: {bucket: ...} or azure: {account: ..., container: ...}",
			"unknown-store", "%q is no store of release records", d.Mask(word))
	}
	return err == nil
}

func checkReleaseStore(d *reporter, s structure, _ *v1alpha1.ReleaseStore) {
	have := slices.DeleteFunc(slices.Clone(s.Fields), func(f field) bool { return !slices.Contains(releaseStores, f.Name) })
	if len(have) > 1 {
		d.Errorf(s.Value, "two-stores", "records are kept in one store, this has %s and %s", have[0].Name, have[1].Name)
	} else if len(s.Fields) == 0 {
		d.Errorf(s.Value, "no-store", "nothing says what kind of store it is: give it one of %s", strings.Join(releaseStores, ", "))
	}
}

func checkS3(d *reporter, s structure, r *v1alpha1.S3Releases) {
	if r.Profile != "" && r.Credentials != nil {
		d.Errorf(s.Value, "two-credentials", "s3 has profile or credentials, not both")
	}
}

func checkGCS(d *reporter, s structure, r *v1alpha1.GCSReleases) {
	if r.Endpoint != "" && r.Credentials != nil && r.Credentials.Path != "" {
		d.Errorf(s.Value, "credentials-elsewhere", "the credentials of a file go to Google alone, and not to an endpoint: give credentials.key as a ref:// reference")
	}
}

// Credentials are given in one of two ways.
func checkGCSCredentials(d *reporter, s structure, _ *v1alpha1.GCSCredentials) {
	if len(s.Fields) != 1 {
		d.Errorf(s.Value, "two-credentials", "credentials have either key or path")
	}
}

func checkAzureCredentials(d *reporter, s structure, _ *v1alpha1.AzureCredentials) {
	if len(s.Fields) != 1 {
		d.Errorf(s.Value, "two-credentials", "credentials have either key or sas")
	}
}

func checkSignedBy(d *reporter, s structure, by *v1alpha1.SignedBy) {
	if problem := by.Problem(); s.Sound && problem != "" {
		d.Errorf(s.Value, "invalid-rule", "%s", problem)
	}
}

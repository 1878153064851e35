// Package advice knows what is meant by common mistakes in documents: names that are none, fields that stand elsewhere, words and
// objects of other tools. It adds the way out to findings that name none.
//
// advice must not know how documents are read, nor decide what is a mistake.
package advice

import (
	"strconv"
	"strings"
	"unicode"

	"hawser.dev/hawser/internal/diag"
)

// For is the finding with a Fix where what it says is all that a way out takes: a name that is none gets one that may stand in its place,
// a version that is another one the right one, a field that stands elsewhere its place.
func For(f diag.Finding) diag.Finding {
	switch {
	case f.Code == "unknown-field" && (f.Fix == "" || strings.HasPrefix(f.Fix, "known here: ") || strings.HasSuffix(f.Path, ".valuesFrom")):
		if fix := field(f.Path); fix != "" {
			f.Fix = fix
		}
	case f.Fix != "":
	case f.Code == "invalid-name":
		if quoted, err := strconv.QuotedPrefix(f.What); err == nil {
			if name, err := strconv.Unquote(quoted); err == nil {
				f.Fix = legalName(name)
			}
		}
	case strings.HasPrefix(f.What, "apiVersion must be "):
		version, is, _ := strings.Cut(strings.TrimPrefix(f.What, "apiVersion must be "), ", is ")
		if f.Fix = "write apiVersion: " + strings.Trim(version, `"`); is == `"v1"` || strings.Contains(is, "/") {
			f.Fix += ", that of Hawser's documents; objects of Kubernetes stand in files of manifests, without bundle and fleet"
		}
	case f.Path == "bundle.name" && strings.HasPrefix(f.What, "conflicting values "):
		f.Fix = "one bundle has one name: give each its own run, write both in one file as bundles: {A: {name: A, ...}, B: {name: B, ...}}, or let both files have one name and their instances are one bundle"
	case f.What == "apiVersion is required":
		f.Fix = "write apiVersion: v1alpha1"
	case f.What == "group is required":
		f.Fix = "write group: NAME, for example staging: clusters are chosen, and placed in waves, by their group"
	case strings.Contains(f.Path, ".secretStores.") && f.What == "namespace is required":
		f.Fix = "write kube: {namespace: NAME}, the namespace on each cluster whose Secrets the store reads"
	case strings.Contains(f.Path, ".secretStores.") && f.What == "path is required":
		parts := strings.Split(f.Path, ".")
		f.Fix = "write " + parts[max(0, len(parts)-2)] + ": {path: ./DIR}, the directory with the store's files, relative to the fleet's file"
	case f.What == "namespace is required":
		f.Fix = "namespace: NAME is where the objects go that name none; it is made where there is none"
	}
	return f
}

const (
	fromFile  = "write values: {from: {file: PATH}} on the instance"
	placement = "write placement: {%s: [...]} on the instance"
)

// fields are those that people write on an instance, and where they stand.
var fields = map[string]string{
	"valuesFiles": fromFile, "valueFiles": fromFile, "valuesFile": fromFile,
	"chart": "write helm: {chart: ./DIR}, or helm: {repo: URL, chart: NAME, version: VERSION}", "repo": "it stands in helm: {repo: URL, chart: NAME, version: VERSION}",
	"repoURL": "it stands in helm: {repo: URL, chart: NAME, version: VERSION}", "path": "it stands in kustomize: {path: DIR}; manifests have paths: [...]",
	"paths": "it stands in manifests: {paths: [...]}", "url": "it stands in module: {url: oci://...}", "version": "it stands in helm: {...} or module: {...}",
	"clusters": strings.Replace(placement, "%s", "clusters", 1), "groups": strings.Replace(placement, "%s", "groups", 1),
	"cluster": strings.Replace(placement, "%s", "clusters", 1), "group": strings.Replace(placement, "%s", "groups", 1), "targets": strings.Replace(placement, "%s", "clusters", 1),
	"valuesFrom": "write values: {from: {file: PATH}} on the instance, {from: {instance: NAME, object: v1/ConfigMap/NAME, path: data.KEY}} for a value of an object, or ref://[STORE:]NAME/KEY for a secret",
	"needs":      "write dependsOn: [INSTANCE, ...]", "enabled": "an instance that is on no cluster has placement: {clusters: []}; suspend: true leaves it as it is",
	"releaseName": "it stands in helm: {releaseName: NAME}", "set": "values stand in values: {KEY: VALUE}", "parameters": "values stand in values: {KEY: VALUE}",
	"syncPolicy": "what left the bundle is deleted by every apply; hawser drift --correct puts right what others changed",
}

// field says where a field stands that is unknown at the path; "" where nobody knows. A field without any path is at the top of a document.
func field(path string) string {
	parts := strings.Split(path, ".")
	name := parts[len(parts)-1]
	switch n := len(parts); {
	case n >= 2 && parts[n-2] == "helm" && (name == "repository" || name == "repoURL" || name == "url"):
		return "did you mean \"repo\"?"
	case n >= 3 && parts[n-3] == "instances", name == "valuesFiles", name == "valueFiles", name == "valuesFile":
		return fields[name]
	case name == "onFailure":
		return "it stands in rollout: {onFailure: rollback}"
	case n == 1 && name == "services":
		return "this may be a Compose file: what runs in clusters is declared as manifests, a chart, a kustomization or a module; known here: bundle, bundles, fleet, runtime"
	case n == 1:
		return "known here: bundle, bundles, fleet, runtime; a file of values is named in a bundle: instances: {NAME: {values: {from: {file: ...}}}}"
	}
	return ""
}

// Kind says of an object that its cluster does not know what it is, where it is another tool's; else what is said otherwise.
func Kind(group, otherwise string) string {
	switch {
	case group == "argoproj.io":
		return "that is an object of Argo CD: write a bundle with an instance of what it points to (helm, kustomize or manifests) in its place"
	case strings.HasSuffix(group, ".toolkit.fluxcd.io"):
		return "that is an object of Flux: write a bundle with an instance of what it points to (helm, kustomize or manifests) in its place"
	case group == "kustomize.config.k8s.io":
		return "a kustomization is not applied: write a bundle with an instance of it, kustomize: {path: DIR}"
	}
	return otherwise
}

// maxName is the number of characters of a name that Kubernetes takes everywhere.
const maxName = 63

// legalName says a name like this one that is allowed wherever names are; "" where nothing of it is.
func legalName(name string) string {
	var b strings.Builder
	for i, r := range name {
		upper := unicode.IsUpper(r)
		switch r = unicode.ToLower(r); {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if before := name[:i]; upper && before != "" && unicode.IsLower(rune(before[len(before)-1])) { // MySpace
				b.WriteByte('-')
			}
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	out := b.String()
	out = strings.Trim(out[:min(len(out), maxName)], "-")
	if out == "" || out == name {
		return ""
	}
	return "for example " + out
}

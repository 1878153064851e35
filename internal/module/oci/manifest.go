package oci

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
)

// Media types of manifests.
const (
	manifestType       = "application/vnd.oci.image.manifest.v1+json"
	dockerManifestType = "application/vnd.docker.distribution.manifest.v2+json"
	indexType          = "application/vnd.oci.image.index.v1+json"
	dockerIndexType    = "application/vnd.docker.distribution.manifest.list.v2+json"
)

// manifest is an OCI image manifest; the fields are in the order in which other tools write them.
type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType,omitempty"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// descriptor names a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Size        int64             `json:"size"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// parseManifest reads one image manifest, whose layers nobody has looked at.
func parseManifest(p place, data []byte) (manifest, error) {
	var m struct {
		manifest
		Manifests []json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m.manifest, notArtifact(p, "its manifest is not JSON: "+err.Error())
	}
	switch {
	case m.MediaType == indexType, m.MediaType == dockerIndexType, m.MediaType == "" && m.Manifests != nil:
		return m.manifest, notArtifact(p, fmt.Sprintf("it is an index of %d manifests, as container images for several platforms have", len(m.Manifests)))
	case m.SchemaVersion != 2, m.MediaType != "" && m.MediaType != manifestType && m.MediaType != dockerManifestType:
		return m.manifest, notArtifact(p, fmt.Sprintf("its manifest has the type %s, version %d", quote(m.MediaType), m.SchemaVersion))
	}
	return m.manifest, nil
}

// readManifest reads and checks a manifest: one image manifest, valid digests, sizes within the limit.
func readManifest(p place, data []byte, limit int64) (manifest, error) {
	m, err := parseManifest(p, data)
	if err != nil {
		return m, err
	}
	if len(m.Layers) > maxLayers {
		return m, notArtifact(p, fmt.Sprintf("it has %d layers, at most %d are read", len(m.Layers), maxLayers))
	}
	left := limit
	for _, d := range append([]descriptor{m.Config}, m.Layers...) {
		if !cache.ValidDigest(d.Digest) || d.Size < 0 {
			return m, notArtifact(p, fmt.Sprintf("a layer has the digest %s and the size %d", quote(d.Digest), d.Size))
		}
		if d.Size > left {
			return m, failure("artifact-too-large", fmt.Sprintf("%s: its layers have more than %d MiB", p, limit>>20), "", "make the artifact smaller: exclude what is not needed")
		}
		left -= d.Size
	}
	return m, nil
}

func notArtifact(p place, why string) error {
	return failure("not-an-artifact", p.String()+" is no module, chart or archive of manifests", why, "")
}

// content is the layers that hold an artifact's files, those with one content type when that is not "": all of
// Timoni's, the one of a chart, all of Flux's, and of other artifacts the first that is a tar.
func (m manifest) content(contentType string) []descriptor {
	of := func(mediaType string) []descriptor {
		var out []descriptor
		for _, l := range m.Layers {
			if l.MediaType == mediaType && (contentType == "" || l.Annotations[module.ContentTypeAnnotation] == contentType) {
				out = append(out, l)
			}
		}
		return out
	}
	for _, mediaType := range []string{module.ModuleContentType, module.ChartContentType, module.FluxContentType} {
		if found := of(mediaType); len(found) > 0 {
			return found
		}
	}
	i := slices.IndexFunc(m.Layers, func(l descriptor) bool {
		return strings.HasSuffix(l.MediaType, "tar+gzip") || strings.HasSuffix(l.MediaType, ".tar") || strings.HasSuffix(l.MediaType, "tar.gzip")
	})
	if i < 0 || contentType != "" {
		return nil
	}
	return m.Layers[i : i+1]
}

// types are the media types of the layers, for messages.
func (m manifest) types() string {
	var out []string
	for _, l := range m.Layers {
		t := quote(l.MediaType)
		if c := l.Annotations[module.ContentTypeAnnotation]; c != "" {
			t += " with " + module.ContentTypeAnnotation + " " + quote(c)
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return "there are no layers"
	}
	return "its layers are " + strings.Join(out, ", ")
}

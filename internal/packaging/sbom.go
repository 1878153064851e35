package packaging

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The part of CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/) that a Go binary can fill.
type bom struct {
	Format     string      `json:"bomFormat"`
	Version    string      `json:"specVersion"`
	Revision   int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref,omitempty"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	URL        string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// BillOfMaterials lists the modules in a Go binary as CycloneDX 1.5 JSON, from what the linker wrote into it (see
// debug/buildinfo). name and version are those of the program, at the time of the version. A binary without build
// information is an error.
func BillOfMaterials(info *debug.BuildInfo, name, version string, at time.Time) ([]byte, error) {
	if info == nil || info.Main.Path == "" {
		return nil, fmt.Errorf("%s: no build information in the binary", name)
	}
	b := bom{Format: "CycloneDX", Version: "1.5", Revision: 1, Components: []component{}}
	b.Metadata.Timestamp = at.UTC().Format(time.RFC3339)
	b.Metadata.Component = component{Type: "application", Ref: name, Name: name, Version: version,
		URL: "pkg:golang/" + info.Main.Path + "@" + version, Properties: []property{{"go:version", info.GoVersion}}}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" {
			b.Metadata.Component.Properties = append(b.Metadata.Component.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	b.Components = append(b.Components, component{Type: "library", Ref: "std", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		URL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Name: m.Path, Version: m.Version, URL: "pkg:golang/" + m.Path + "@" + m.Version}
		c.Ref = c.URL
		if m.Sum != "" {
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		b.Components = append(b.Components, c)
	}
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.URL, y.URL) })
	out, err := json.MarshalIndent(b, "", "  ")
	return append(out, '\n'), err
}

package charts

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
)

// index is what is read of a repository's index.yaml.
type index struct {
	Entries map[string][]version `yaml:"entries"`
	// out is how many entries of a chart were left out, as they are no versions.
	out map[string]int
}

// versions are all versions of an index, a line each.
func (ix index) versions() string {
	var out strings.Builder
	for _, list := range ix.Entries {
		for _, v := range list {
			out.WriteString(v.Version)
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// version is one version of a chart. Digest is "sha256:<hex>", "" where the index has none.
type version struct {
	Version string   `yaml:"version"`
	Digest  string   `yaml:"digest"`
	URLs    []string `yaml:"urls"`
}

// parseIndex reads index.yaml (JSON is YAML too). The parser refuses aliases that expand without bound.
func parseIndex(data []byte) (index, error) {
	var ix index
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) { // the parser reads UTF-16 as well, in which no value is counted
		return index{}, errors.New("it is no text in UTF-8")
	}
	if err := cuelang.CheckValues(data, maxValues); err != nil { // some KB on the way may be all that is read of an index
		return index{}, err
	}
	if fs := cuelang.CheckAliases("-", data); fs != nil {
		return index{}, fmt.Errorf("line %d: %s", fs[0].Pos.Line, fs[0].What)
	}
	if err := yaml.Unmarshal(data, &ix); err != nil {
		return index{}, errors.New(cuelang.YAMLFault(err.Error()))
	}
	if len(ix.Entries) == 0 {
		return index{}, errors.New("it names no charts")
	}
	ix.out = map[string]int{}
	for chart, all := range ix.Entries {
		versions := slices.DeleteFunc(slices.Clone(all), func(v version) bool { return !isVersion(v.Version) })
		ix.out[chart] = len(all) - len(versions)
		for i := range versions {
			versions[i].Digest = canonical(versions[i].Digest)
		}
		ix.Entries[chart] = versions
	}
	return ix, nil
}

// maxValues is what an index may have, at some 200 bytes each: 40 MiB of an ordinary one.
const maxValues = 3_000_000

// maxVersion is how long a version is at most, as semver has it.
const maxVersion = 256

// isVersion reports whether a text of an index is a version: it comes to stand in hawser.lock and in what is said. Helm, too, leaves out what is none.
func isVersion(text string) bool {
	_, err := semver.NewVersion(text)
	return err == nil && len(text) <= maxVersion
}

// canonical is a digest with its algorithm in front, "" for what is none.
func canonical(digest string) string {
	digest = strings.ToLower(strings.TrimSpace(digest))
	if !strings.HasPrefix(digest, "sha256:") {
		digest = "sha256:" + digest
	}
	if !cache.ValidDigest(digest) {
		return ""
	}
	return digest
}

// isExact reports whether a version is one version and no range.
func isExact(v string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(v, "v"))
	return err == nil
}

// choose is the version a reference means.
func (ix index) choose(r repo) (version, error) {
	versions, ok := ix.Entries[r.chart]
	if !ok {
		return version{}, failure("chart-not-found", fmt.Sprintf("%s has no chart %q", r.open(), r.chart), "",
			diag.DidYouMean(r.chart, slices.Sorted(maps.Keys(ix.Entries))))
	}
	if r.digest != "" {
		for _, v := range versions {
			if v.Digest == r.digest {
				return v, nil
			}
		}
	}
	if v, ok := pick(versions, r.version); ok {
		return v, nil
	}
	return version{}, notFound(r, versions, ix.out[r.chart])
}

// pick is the version with that very name, or the newest in the range; "" is the newest that is no pre-release.
// Pre-releases are in a range that names one.
func pick(versions []version, want string) (version, bool) {
	for _, v := range versions {
		if v.Version == want && want != "" {
			return v, true
		}
	}
	if want == "" {
		want = "*"
	}
	within, err := semver.NewConstraint(want)
	if err != nil {
		return version{}, false
	}
	var best *semver.Version
	var out version
	for _, v := range versions {
		sv, err := semver.NewVersion(v.Version)
		if err != nil || !within.Check(sv) || best != nil && !newer(sv, best) {
			continue
		}
		best, out = sv, v
	}
	return out, best != nil
}

// newer orders by precedence, and by build metadata where that is equal, so that the order of the index plays no part.
func newer(a, b *semver.Version) bool {
	if c := a.Compare(b); c != 0 {
		return c > 0
	}
	return a.Metadata() > b.Metadata()
}

// notFound says what there is instead.
func notFound(r repo, versions []version, out int) error {
	var have []*semver.Version
	for _, v := range versions {
		if sv, err := semver.NewVersion(v.Version); err == nil {
			have = append(have, sv)
		}
	}
	slices.SortFunc(have, func(a, b *semver.Version) int { return b.Compare(a) })
	var names []string
	for _, v := range have[:min(len(have), 5)] {
		names = append(names, v.Original())
	}
	what := fmt.Sprintf("%s has no version %q", r, r.version)
	if r.version == "" {
		what = r.String() + " has no stable version"
	}
	fix := ""
	if len(names) > 0 {
		fix = "the newest are " + strings.Join(names, ", ")
	}
	why := ""
	if out > 0 {
		why = fmt.Sprintf("of its versions in the repository's index %d have no usable number, and are left out", out)
	}
	return failure("chart-version", what, why, fix)
}

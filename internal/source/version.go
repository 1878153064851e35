package source

import (
	"path"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

// otherVersion says that a chart on this machine is not of the version that the bundle wants: nobody fetches another one.
func otherVersion(u Use, in v1alpha1.Instance) diag.Findings {
	have := u.Resolved.Version
	if in.Helm == nil || !u.Local() || u.Want == "" || have == module.LocalVersion || satisfies(have, u.Want) {
		return nil
	}
	where := u.Name
	if !strings.HasSuffix(where, ".tgz") {
		where = path.Join(where, module.ChartFile)
		if strings.HasPrefix(u.Name, "./") {
			where = "./" + where
		}
		if line := module.ChartVersionLine(u.Content); line > 0 {
			where += ":" + strconv.Itoa(line)
		}
	}
	f := diag.Errorf("chart-version", "version %s is wanted, the chart has %s", u.Want, have)
	f.Why = where + " says version " + have
	f.Fix = "write version: " + have + ", or leave it out: a chart on this machine is what its files are"
	f.Instance, f.Path = in.Name, "version"
	if f.Pos = diag.Pos(in.Helm.VersionPos); !f.Pos.IsValid() {
		f.Pos = Position(in)
	}
	return diag.Findings{f}
}

// satisfies reports whether a version is the one that is wanted, or in the range.
func satisfies(have, want string) bool {
	v, err := semver.NewVersion(have)
	if err != nil {
		return have == want
	}
	if exact, err := semver.NewVersion(want); err == nil && strings.Count(want, ".") >= 2 {
		return exact.Equal(v)
	}
	c, err := semver.NewConstraint(want)
	return err == nil && c.Check(v)
}

// Exact reports whether a wanted version is one version, and no range or tag.
func Exact(want string) bool {
	_, err := semver.NewVersion(want)
	return err == nil && strings.Count(want, ".") >= 2
}

// Allows reports whether a wanted version, range or tag lets a source be of a version: what tags mean is not for versions to say.
func Allows(want, version string) bool {
	if _, err := semver.NewConstraint(want); want == "" || err != nil {
		return true
	}
	return satisfies(version, want)
}

// Literals are where the bundle writes the version and the digest of an instance's source; a zero one is written nowhere.
func Literals(in v1alpha1.Instance) (version, digest diag.Pos) {
	switch {
	case in.Module != nil:
		return diag.Pos(in.Module.VersionPos), diag.Pos(in.Module.DigestPos)
	case in.Helm != nil:
		return diag.Pos(in.Helm.VersionPos), diag.Pos(in.Helm.DigestPos)
	case in.Manifests != nil:
		return diag.Pos(in.Manifests.VersionPos), diag.Pos(in.Manifests.DigestPos)
	}
	return version, digest
}

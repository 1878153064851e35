package source

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
)

// CodeStale is the code of findings about pins that are missing or no longer true.
const CodeStale = "stale-lock"

// pinAll says how what is there now gets pinned.
const pinAll = "pin what is there now: hawser lock"

// Pin is what hawser.lock keeps of a source. Of local content only charts have a version of their own.
func (u Use) Pin() lockfile.Pin {
	if u.Local() && u.Resolved.Version == module.LocalVersion {
		return lockfile.Pin{Digest: u.Resolved.Digest}
	}
	return lockfile.Pin{Version: u.Resolved.Version, Digest: u.Resolved.Digest}
}

// PinIn is what a source is pinned to: by a promotion, else by the pins of hawser.lock.
func (s Source) PinIn(pins map[string]lockfile.Pin) (lockfile.Pin, bool) {
	if s.Promoted.Digest != "" {
		return s.Promoted, true
	}
	if s.OfOthers {
		return lockfile.Pin{}, false
	}
	pin := pins[s.Key()]
	return pin, pin.Digest != ""
}

// Check compares what a run uses with what hawser.lock pins. Locked makes differences, and sources that are not pinned,
// Errors; otherwise they are Warnings, and sources that were resolved in this run are said together. A bundle of local
// sources alone needs no pins, whatever the bundles beside it pin; where some of its own are pinned, all are.
func Check(pins map[string]lockfile.Pin, used []Use, locked bool) diag.Findings {
	severity := diag.Warning
	if locked {
		severity = diag.Error
	}
	var out diag.Findings
	var loose []string
	pinned := slices.ContainsFunc(used, func(u Use) bool { _, ok := u.PinIn(pins); return ok })
	for _, u := range used {
		pin, ok := u.PinIn(pins)
		switch {
		case ok && pin.Digest != u.Resolved.Digest:
			f := stale(u, pin)
			f.Severity = severity
			out = append(out, f)
		case ok || u.State == Given:
		case u.Local() && (!locked || !pinned):
		case locked:
			out = append(out, unpinned(u)...)
		default:
			loose = append(loose, u.Title(u.Resolved.Version))
		}
	}
	if len(loose) > 0 {
		f := diag.Warnf("not-pinned", "%s", "taken as of now, because "+lockfile.Name+" does not pin it: "+strings.Join(loose, ", "))
		f.Why = "the next run may find another version"
		f.Fix = pinAll
		out = append(out, f)
	}
	return out
}

func stale(u Use, pin lockfile.Pin) diag.Finding {
	f := diag.Warnf(CodeStale, "%s is not what %s pins", u.Key(), lockfile.Name)
	f.Why = "pinned " + pin.Digest + ", is " + u.Resolved.Digest
	f.Instance, f.Pos, f.Fix = u.Instance, u.Pos, pinAll
	return f
}

func unpinned(u Use) diag.Findings {
	f := diag.Errorf(CodeStale, "%s is not pinned by %s", u.Key(), lockfile.Name)
	f.Instance, f.Pos, f.Fix = u.Instance, u.Pos, pinAll
	if !u.Local() {
		f.Fix = "resolve and pin it: hawser lock; or run without --locked (it is the default where CI is set: --locked=false)"
	}
	return diag.Findings{f}
}

// Package archive reads hostile tar archives (plain or gzip) into a directory, and writes reproducible ones.
//
// Nothing in an archive is trusted: every path is checked before anything is created, sizes and numbers are bounded
// while they are read, links never exist in what is extracted, and a failure leaves nothing behind. Modes, owners and
// times of an archive are not taken over.
//
// archive must not know where an archive comes from, nor what its files mean.
package archive

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
)

// Limits bound what an archive may make of a machine. The zero value of a field is its default.
type Limits struct {
	// Entries is the number of entries of any kind, links and directories included (default 20,000). With the directories that paths lead
	// through there may be twice as many.
	Entries int
	// Bytes is the size of all files together when extracted (default 512 MiB), FileBytes of one file (default 128 MiB).
	Bytes, FileBytes int64
	// Ratio is how many bytes one byte of the compressed stream may become (default 200); it counts after the first 16 MiB.
	Ratio int64
	// Depth is the number of parts of a path (default 64), PathBytes its length in bytes, and that of a link's target (default 1,024).
	Depth, PathBytes int
}

// ratioFree is how much may come out of a stream before its ratio counts: small files of zeros are no bombs.
const ratioFree = 16 << 20

func (l Limits) withDefaults() Limits {
	l.Entries = cmp.Or(l.Entries, 20000)
	l.Bytes = cmp.Or(l.Bytes, 512<<20)
	l.FileBytes = cmp.Or(l.FileBytes, 128<<20)
	l.Ratio = cmp.Or(l.Ratio, 200)
	l.Depth = cmp.Or(l.Depth, 64)
	l.PathBytes = cmp.Or(l.PathBytes, 1024)
	return l
}

// stream is how many bytes of tar the limits allow in all archives together: the files, and three blocks of header and padding per entry.
func (l Limits) stream() int64 { return l.Bytes + 4*512*int64(l.Entries) + 1<<20 }

// Rule names what an archive violates.
type Rule string

const (
	// Format is an archive that is no tar, is damaged, cut off or followed by something else.
	Format Rule = "format"
	// Other is something else in an archive's place: the reason says what, as far as it can be told.
	Other Rule = "other"
	// Escape is a path or a link that leads out of the archive, or could on another system.
	Escape Rule = "escape"
	// Kind is an entry that is neither file, directory nor link: a device, a pipe, a sparse file.
	Kind Rule = "kind"
	// Collision is two entries that are one on some file system: the same name, or names that differ in case or Unicode form.
	Collision Rule = "collision"
	// Link is a link within the archive that cannot be followed to a file.
	Link Rule = "link"
	// Limit is a bound that is exceeded.
	Limit Rule = "limit"
)

// Error says why an archive is refused.
type Error struct {
	// Rule is what is violated, Entry the entry's name as the archive has it ("" for the archive as a whole).
	Rule  Rule
	Entry string
	// Reason is a phrase without the entry's name.
	Reason string
}

func (e *Error) Error() string {
	if e.Entry == "" {
		return "archive: " + e.Reason
	}
	return fmt.Sprintf("archive: entry %s: %s", quoted(e.Entry), e.Reason)
}

// maxQuoted is how long a name is at most that is quoted.
const maxQuoted = 1024

// quoted is a name as it may stand in a message. It is never cut, as what is left of a secret would not be recognised: one that is too long
// is told by its length.
func quoted(name string) string {
	if len(name) > maxQuoted {
		return fmt.Sprintf("with a name of %d bytes", len(name))
	}
	return strconv.Quote(name)
}

func refuse(rule Rule, entry, format string, args ...any) error {
	return &Error{Rule: rule, Entry: entry, Reason: fmt.Sprintf(format, args...)}
}

// IsRefused reports whether an error is a refusal of the archive itself, not of the disk it is extracted to.
func IsRefused(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

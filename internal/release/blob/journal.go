package blob

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hawser.dev/hawser/internal/release"
)

// keepEntries is how long an entry stays after its successor was written: a reader that met it in a listing still finds it,
// and a writer that was suspended meets a successor, or knows by the time that passed that it may not rely on there being none.
const keepEntries = time.Hour

// maxEntry bounds what is read of an entry: an encoded record, in base64.
const maxEntry = 2 * release.MaxStored

// journal is a line of entries of which the last one counts. An entry is made only where its number is absent, so that
// of several writers that saw the same last one, one writes the next.
type journal struct {
	*store
	prefix string // of the keys, with a slash
}

// entry is one of a journal, as it is stored.
type entry struct {
	// Write is a random id by which a writer whose answer got lost finds its own; Before that of the entry before.
	Write  string `json:"write"`
	Before string `json:"before,omitempty"`
	Body   []byte `json:"body,omitempty"`
}

// tip is the last entry of a journal. The zero tip is that of an empty one.
type tip struct {
	number   int
	modified time.Time
	entry
}

func (j journal) key(number int) string { return fmt.Sprintf("%s%012d", j.prefix, number) }

// handle names a tip; "" is the empty journal.
func (t tip) handle() release.RecordVersion {
	if t.number == 0 {
		return ""
	}
	return release.RecordVersion(fmt.Sprintf("%d:%s", t.number, t.Write))
}

// numbered are the entries of a listing by number, in order. Foreign names are left out.
func (j journal) numbered(list []Entry) (numbers []int, at map[int]Entry) {
	at = map[int]Entry{}
	for _, e := range list {
		digits := strings.TrimPrefix(e.Key, j.prefix)
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && j.key(n) == e.Key {
			numbers, at[n] = append(numbers, n), e
		}
	}
	return numbers, at
}

// last reads the tip.
func (j journal) last(ctx context.Context) (tip, error) {
	for try := 1; ; try++ {
		list, err := j.bucket.List(ctx, j.prefix)
		if err != nil {
			return tip{}, j.wrap("list", j.prefix, err)
		}
		numbers, at := j.numbered(list)
		if len(numbers) == 0 {
			return tip{}, nil
		}
		n := numbers[len(numbers)-1]
		e, err := j.read(ctx, n)
		if errors.Is(err, ErrAbsent) && try < 3 { // it was replaced long ago by what this listing did not show yet
			continue
		}
		if err != nil {
			return tip{}, err
		}
		return tip{n, at[n].Modified, e}, nil
	}
}

func (j journal) read(ctx context.Context, number int) (entry, error) {
	var e entry
	data, err := j.get(ctx, j.key(number), maxEntry)
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		return e, j.wrap("read", j.key(number), err)
	}
	return e, nil
}

// add writes the entry after a tip, else ErrConflict, and lets go of old ones.
func (j journal) add(ctx context.Context, after tip, body []byte) (tip, error) {
	next := tip{number: after.number + 1, entry: entry{Write: rand.Text(), Before: after.Write, Body: body}}
	data, err := json.Marshal(next.entry)
	if err != nil {
		return tip{}, err
	}
	key := j.key(next.number)
	if err := j.create(ctx, key, data); err != nil {
		there, look := j.read(ctx, next.number)
		switch {
		case look == nil && there.Write == next.Write: // its answer got lost
		case errors.Is(err, ErrExists):
			return tip{}, j.wrap("write", key, release.ErrConflict)
		default:
			return tip{}, j.wrap("write", key, err)
		}
	}
	list, err := j.bucket.List(ctx, j.prefix)
	if err != nil {
		return tip{}, j.wrap("list", j.prefix, err)
	}
	numbers, at := j.numbered(list)
	if len(numbers) > 0 && numbers[len(numbers)-1] > next.number {
		// The number was free although later ones are there: it was let go of while this writer slept, unless the next one
		// was written after this one.
		if later, err := j.read(ctx, next.number+1); err != nil || later.Before != next.Write {
			return tip{}, j.wrap("write", key, release.ErrConflict)
		}
	}
	next.modified = at[next.number].Modified
	j.sweep(ctx, numbers, at, next)
	return next, nil
}

// sweep lets go of entries whose successors are old. What fails is left for the next time.
func (j journal) sweep(ctx context.Context, numbers []int, at map[int]Entry, now tip) {
	for i, n := range numbers {
		if n >= now.number || i+1 >= len(numbers) || now.modified.Sub(at[numbers[i+1]].Modified) < keepEntries {
			return
		}
		if j.bucket.Delete(ctx, j.key(n)) != nil {
			return
		}
	}
}

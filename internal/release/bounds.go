package release

import (
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/columns"
)

// MaxStored bounds what a stored object may have in all its parts, and what it may unpack to: a damaged or hostile one cannot
// fill the memory.
const MaxStored = 128 << 20

// What decoding may come to, by the weights below: of records, of all those of one listing, of a Set.
const (
	maxRecord = 256 << 20
	maxSet    = 1 << 30
)

// Weights of JSON in memory, by the byte that tells a value: some three bytes of text become an inventory entry.
const (
	weightStruct = 512 // of an object, or a null in its place
	weightValue  = 96  // of an element or a field
)

// weigh estimates from above what a JSON text takes when it is decoded.
func weigh(text []byte) int {
	total := len(text)
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == 'n':
			total += weightStruct
		case c == '[' || c == ',':
			total += weightValue
		}
	}
	return total
}

// Budget is what the records of one listing may come to in memory. The zero Budget is whole.
type Budget struct{ spent int }

// Decode is DecodeRecord within the budget.
func (b *Budget) Decode(data []byte) (*Record, error) {
	text, err := unpack(data, maxRecord-b.spent)
	if err != nil {
		return nil, err
	}
	b.spent += weigh(text)
	return decodeRecord(text)
}

// plain refuses a record in which a name is none: it is printed as it is, and orders to a terminal are no part of it.
func (r *Record) plain() error {
	names := []string{r.Bundle, r.Owner, r.Fleet, r.Cluster, r.Group, r.ClusterUID, r.Lineage, r.Head, r.Rollout, string(r.Phase)}
	names = slices.Concat(names, r.Suspended, r.Unseen)
	for _, m := range []map[string]string{r.Inputs, r.Sources, r.Origins, r.Made} {
		names = slices.AppendSeq(names, maps.Keys(m))
	}
	names = slices.AppendSeq(names, maps.Keys(r.Checks))
	names = slices.AppendSeq(names, maps.Keys(r.Hooks))
	names = slices.AppendSeq(names, maps.Keys(r.Depends))
	for _, o := range r.Inventory {
		names = append(names, o.Instance, o.Version, o.Ref.Group, o.Ref.Kind, o.Ref.Namespace, o.Ref.Name)
	}
	for _, name := range names {
		if !columns.Plain(name) {
			return fmt.Errorf("%w: %q is no name", ErrDamaged, name)
		}
	}
	return nil
}

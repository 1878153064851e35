package desired

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"sync"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Hear makes known, for a message that is kept of a run, what Secrets hold: as they are declared, as the record has them and the one that is
// gone back to (nil for none), and as those are that the plan writes or deletes. For no message nothing is read. What cannot be read is told by
// who needs it.
func (r Resolver) Hear(ctx context.Context, message string, s *State, p *plan.Plan, back *release.Record) diag.Findings {
	if message == "" {
		return nil
	}
	all := slices.Collect(maps.Values(s.Bodies))
	if back != nil {
		kept, _ := r.Store.Objects(ctx, *back)
		all = append(all, kept...)
	}
	if r.Record != nil {
		declared := map[object.Ref]object.Object{}
		kept, _ := r.Store.Objects(ctx, *r.Record)
		for _, o := range kept {
			declared[o.Ref()] = o
		}
		_ = release.Earlier(ctx, r.Store, s.Owner, r.Record.Unapplied(declared), declared) // what a run that was cut short left
		all = slices.AppendSeq(append(all, kept...), maps.Values(declared))
	}
	var held []map[string]any
	for _, o := range all {
		held = append(held, o.Body)
	}
	var mu sync.Mutex
	var wg broke.Group
	for _, ch := range p.Changes {
		if !ch.Ref.IsSecret() || !ch.Action.Writes() || ch.Action == plan.Create {
			continue
		}
		wg.Go(func() {
			if live, err := r.Session.Get(ctx, "v1", ch.Ref.Kind, ch.Ref.Namespace, ch.Ref.Name); err == nil {
				mu.Lock()
				defer mu.Unlock()
				held = append(held, live)
			}
		})
	}
	wg.Wait()
	r.Redactor.AddHeard(textsOf(held)...)
	return nil
}

// textsOf are what the Secrets among bodies hold, decoded, as they are declared, kept or live.
func textsOf(bodies []map[string]any) (out []string) {
	for _, body := range bodies {
		if !(object.Object{Body: body}).Ref().IsSecret() {
			continue
		}
		data, _ := body["data"].(map[string]any)
		for _, v := range data {
			text, _ := v.(string)
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
				out = append(out, string(plain))
			}
		}
		given, _ := body["stringData"].(map[string]any)
		for _, v := range given {
			text, _ := v.(string)
			out = append(out, text)
		}
	}
	return out
}

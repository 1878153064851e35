package plan

// Counts of a plan by action.
type Counts struct {
	Create    int `json:"create"`
	Update    int `json:"update"`
	Delete    int `json:"delete"`
	Recreate  int `json:"recreate"`
	Adopt     int `json:"adopt"`
	Conflict  int `json:"conflict"`
	Unknown   int `json:"unknown"`
	Release   int `json:"release"`
	Unchanged int `json:"unchanged"`
	// Hooks counts what happens to the objects of hooks; it is in none of the others.
	Hooks int `json:"hooks,omitempty"`
}

// Count counts the plan's changes.
func (p *Plan) Count() Counts {
	c := Counts{Unchanged: p.Unchanged}
	for _, ch := range p.Changes {
		c.One(ch)
	}
	return c
}

// One counts one change more.
func (c *Counts) One(ch Change) {
	if ch.Hook != nil && ch.Action != Conflict {
		c.Hooks++
		return
	}
	switch ch.Action {
	case Create:
		c.Create++
	case Update:
		c.Update++
	case Delete:
		c.Delete++
	case Recreate:
		c.Recreate++
	case Adopt:
		c.Adopt++
	case Conflict:
		c.Conflict++
	case Unknown:
		c.Unknown++
	case Release:
		c.Release++
	case Unchanged:
		c.Unchanged++
	}
}

// Add sums two counts.
func (c Counts) Add(o Counts) Counts {
	return Counts{c.Create + o.Create, c.Update + o.Update, c.Delete + o.Delete, c.Recreate + o.Recreate,
		c.Adopt + o.Adopt, c.Conflict + o.Conflict, c.Unknown + o.Unknown, c.Release + o.Release, c.Unchanged + o.Unchanged, c.Hooks + o.Hooks}
}

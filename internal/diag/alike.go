package diag

// alike is what findings share that several clusters have in common.
type alike struct {
	severity        Severity
	code, what, fix string
}

// Alike lets findings that say the same of several clusters be said once: where they differ in position or reason, each of
// them loses that. Findings without a cluster stay as they are.
func (fs Findings) Alike() Findings {
	first := map[alike]Finding{}
	pos, why := map[alike]bool{}, map[alike]bool{}
	key := func(f Finding) alike { return alike{f.Severity, f.Code, f.What, f.Fix} }
	for _, f := range fs {
		k := key(f)
		was, seen := first[k]
		if f.Cluster == "" {
			continue
		}
		if !seen {
			first[k] = f
			continue
		}
		pos[k], why[k] = pos[k] || was.Pos != f.Pos, why[k] || was.Why != f.Why
	}
	out := make(Findings, len(fs))
	for i, f := range fs {
		if k := key(f); f.Cluster != "" {
			if pos[k] {
				f.Pos = Pos{}
			}
			if why[k] {
				f.Why = ""
			}
		}
		out[i] = f
	}
	return out
}

// Whats are the findings' texts without anything around them.
func (fs Findings) Whats() []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.What)
	}
	return out
}

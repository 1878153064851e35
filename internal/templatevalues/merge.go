package templatevalues

// merging is a function of sprig that merges maps, one after the other. It goes down where both maps have a map, and never ends
// where both hold themselves: such are refused. What both share is merged from a copy, as each may become deeper while it is merged
// into the other.
func merging(fn string, f any) func(dst map[string]any, srcs ...map[string]any) (any, error) {
	one := func(map[string]any, ...map[string]any) (any, error) { return nil, nil }
	switch f := f.(type) {
	case func(map[string]any, ...map[string]any) any:
		one = func(dst map[string]any, srcs ...map[string]any) (any, error) { return f(dst, srcs...), nil }
	case func(map[string]any, ...map[string]any) (any, error):
		one = f
	}
	return func(dst map[string]any, srcs ...map[string]any) (any, error) {
		var out any = dst
		for _, src := range srcs {
			if !plainMap(dst) {
				if tooDeep(dst) || tooDeep(src) {
					return nil, isTooDeep(fn)
				}
				if shared(dst, src) {
					if Weight(src) > MaxMade {
						return nil, TooMuch(fn)
					}
					src, _ = unshared(src).(map[string]any)
				}
			}
			got, err := one(dst, src)
			if _, is := got.(map[string]any); err != nil || !is {
				return got, err
			}
			out = got
		}
		return out, nil
	}
}

// plainMap reports whether a map holds no map and no list.
func plainMap(m map[string]any) bool {
	for _, v := range m {
		if !flat(v) {
			return false
		}
	}
	return true
}

// shared reports whether two values that are not too deep have a map in common.
func shared(a, b any) bool {
	seen := depths{}
	if _, ok := seen.of(a, MaxDepth); !ok {
		return true
	}
	all := depths{}
	if _, ok := all.of(b, MaxDepth); !ok {
		return true
	}
	for id := range all {
		if _, is := seen[id]; is && id.len < 0 {
			return true
		}
	}
	return false
}

// unshared is a value with maps and lists of its own at every place.
func unshared(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = unshared(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = unshared(item)
		}
		return out
	}
	return v
}

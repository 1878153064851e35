package v1alpha1

// DeepCopyInto writes a copy that shares nothing into out, as custom resources that have the spec want it.
func (in *BundleSpec) DeepCopyInto(out *BundleSpec) { *out = *in.DeepCopy() }

// DeepCopyInto writes a copy that shares nothing into out, as custom resources that have the spec want it.
func (in *FleetSpec) DeepCopyInto(out *FleetSpec) { *out = *in.DeepCopy() }

// copied is a copy of what is pointed at, nil of nil; what that points at is shared.
func copied[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

// copyMap is a copy of JSON types that shares nothing.
func copyMap(in map[string]any) map[string]any {
	if in == nil {
		return nil
	}
	out := make(map[string]any, len(in))
	for k, v := range in {
		out[k] = copyAny(v)
	}
	return out
}

func copyAny(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return copyMap(v)
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copyAny(e)
		}
		return out
	}
	return v
}

package object

// Expires reports whether an object goes by itself when it is done: a Job with a time to live.
func Expires(o Object) bool {
	r := o.Ref()
	spec, _ := o.Body["spec"].(map[string]any)
	return r.IsJob() && spec["ttlSecondsAfterFinished"] != nil
}

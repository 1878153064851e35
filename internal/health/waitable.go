package health

import "hawser.dev/hawser/internal/object"

func waitable(r object.Ref) bool { return r.Kind != "" }

package v1alpha1

import _ "embed"

// BundleSchema and FleetSchema are the documents' schemas in CUE, for printing and for programs; FleetSchema uses
// definitions of BundleSchema. They say the form; what needs a look at several fields is checked in code.
var (
	//go:embed bundle.schema.cue
	BundleSchema string
	//go:embed fleet.schema.cue
	FleetSchema string
)

package fleetplan

import (
	"reflect"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/planfile"
)

// Decided is what a saved plan depends on besides the clusters: the part of its request that decides, and what was read.
type Decided struct {
	Files          []string        `json:"files"`
	FleetFiles     []string        `json:"fleet,omitempty"`
	Workdir        string          `json:"workdir,omitempty"`
	Package        string          `json:"package,omitempty"`
	Name           string          `json:"name,omitempty"`
	Namespace      string          `json:"namespace,omitempty"`
	Bundle         string          `json:"bundle,omitempty"`
	To             string          `json:"to,omitempty"`
	RuntimeFromEnv bool            `json:"runtimeFromEnv,omitempty"`
	Selection      fleet.Selection `json:"selection"`
	Context        string          `json:"context,omitempty"`
	Rotate         chance.Rotation `json:"rotate,omitempty"`
	Adopt          bool            `json:"adopt,omitempty"`
	TakeOver       bool            `json:"takeOver,omitempty"`
	AcceptClusters []string        `json:"acceptClusters,omitempty"`
	Recreate       bool            `json:"recreate,omitempty"`
	LetUnserved    bool            `json:"letUnserved,omitempty"`
	SkipWaves      bool            `json:"skipWaves,omitempty"`
	UntilWave      int             `json:"untilWave,omitempty"`
	ConfirmDelete  *int            `json:"confirmDelete,omitempty"`
	Tests          bool            `json:"tests,omitempty"`
	NoHooks        bool            `json:"noHooks,omitempty"`
	Locked         bool            `json:"locked,omitempty"`
	ServerCheck    bool            `json:"serverCheck,omitempty"`
	ShowDiff       bool            `json:"showDiff,omitempty"`
	ShowFields     bool            `json:"showFields,omitempty"`
	ShowContent    bool            `json:"showContent,omitempty"`
	Retire         string          `json:"retire,omitempty"`
	Keep           bool            `json:"keep,omitempty"`
	// Inputs are what was read.
	Inputs planfile.Inputs `json:"inputs"`
	// ID names the file that this was read from.
	ID string `json:"-"`
}

// File is the ID of a saved plan's file, "" for nil, which was not saved.
func (d *Decided) File() string {
	if d == nil {
		return ""
	}
	return d.ID
}

// Decide takes what decides from a request, a struct: every field of the same name; context is the one of its access.
func Decide(request any, context string) Decided {
	var d Decided
	planfile.CopyFields(reflect.ValueOf(&d).Elem(), reflect.ValueOf(request))
	d.Context = context
	return d
}

// Apply gives a request, a pointer to a struct, and the context of its access what the plan decided. A number of deletions
// that only the request confirms stays.
func (d Decided) Apply(request any, context *string) {
	to := reflect.ValueOf(request).Elem()
	if confirmed, ok := to.FieldByName("ConfirmDelete").Interface().(*int); ok && d.ConfirmDelete == nil {
		d.ConfirmDelete = confirmed
	}
	planfile.CopyFields(to, reflect.ValueOf(d))
	if d.Context != "" {
		*context = d.Context
	}
}

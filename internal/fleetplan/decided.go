package fleetplan

import (
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/planfile"
)

// Paths are where the documents of a run are, for those who read them: a saved plan's are read again when it is applied.
type Paths struct {
	// Files are the bundle's files, FleetFiles the fleet's; "-" is standard input.
	Files      []string `json:"files"`
	FleetFiles []string `json:"fleet,omitempty"`
	// Workdir is where CUE modules are looked for, Package the CUE package.
	Workdir string `json:"workdir,omitempty"`
	Package string `json:"package,omitempty"`
	// Name is that of a bundle made of plain manifests, Namespace for those of them that name none.
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// Selection is which part of what was given a run is about.
type Selection struct {
	// Bundle is a bundle's name: to choose one of several, or where there are no documents of it.
	Bundle string `json:"bundle,omitempty"`
	// Clusters are those of the fleet.
	Clusters fleet.Selection `json:"selection"`
	// Retire is the name of a cluster that left the fleet: delete goes to it alone. Keep: what runs there is left there.
	Retire string `json:"retire,omitempty"`
	Keep   bool   `json:"keep,omitempty"`
}

// PlanOptions are what a plan depends on besides documents and clusters. A saved plan has all of them.
type PlanOptions struct {
	// To names the release to go back to, by number or rollout; "" is the one before the newest.
	To string `json:"to,omitempty"`
	// RuntimeFromEnv lets the environment fill runtime values.
	RuntimeFromEnv bool `json:"runtimeFromEnv,omitempty"`
	// Rotate are INSTANCE or INSTANCE/NAME: what was made up for them is made anew.
	Rotate chance.Rotation `json:"rotate,omitempty"`
	// Adopt takes over what others own, Recreate makes anew what cannot be changed.
	Adopt bool `json:"adopt,omitempty"`
	// TakeOver lets a run go on with a release of another lineage, source or fleet; AcceptClusters names the clusters that
	// may be others than they are known to be.
	TakeOver       bool     `json:"takeOver,omitempty"`
	AcceptClusters []string `json:"acceptClusters,omitempty"`
	Recreate       bool     `json:"recreate,omitempty"`
	// LetUnserved forgets objects of kinds that a cluster does not serve, of which nobody knows whether they are there.
	LetUnserved bool `json:"letUnserved,omitempty"`
	SkipWaves   bool `json:"skipWaves,omitempty"`
	UntilWave   int  `json:"untilWave,omitempty"`
	// ConfirmDelete is the number of deletions the user confirmed; nil = none given.
	ConfirmDelete *int `json:"confirmDelete,omitempty"`
	// Tests runs the tests of instances when they are ready; NoHooks runs no hook at all.
	Tests   bool `json:"tests,omitempty"`
	NoHooks bool `json:"noHooks,omitempty"`
	// Locked refuses sources that are not pinned.
	Locked      bool `json:"locked,omitempty"`
	ServerCheck bool `json:"serverCheck,omitempty"`
	// ShowDiff previews changed objects on the server, so that their fields can be shown.
	ShowDiff bool `json:"showDiff,omitempty"`
	// ShowFields tells the fields of changed objects without asking a server: the declaration compared with the recorded one.
	ShowFields bool `json:"showFields,omitempty"`
	// ShowContent tells the whole of objects that are made.
	ShowContent bool `json:"showContent,omitempty"`
}

// Decided is what a saved plan depends on besides the clusters: the parts of its request that decide, whole, and what was read.
type Decided struct {
	Paths
	Selection
	PlanOptions
	// Context is that of the one cluster of a run without a fleet.
	Context string `json:"context,omitempty"`
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

// Options are the plan's, for a request with options of its own. A number of deletions that only the request confirms stays.
func (d Decided) Options(requested PlanOptions) PlanOptions {
	out := d.PlanOptions
	if out.ConfirmDelete == nil {
		out.ConfirmDelete = requested.ConfirmDelete
	}
	return out
}

package plan

// Options steer Compute.
type Options struct {
	Adopt    bool
	Recreate bool
	// NoPrune leaves everything that is no longer declared (a run narrowed to instances, or vet).
	NoPrune bool
	// Deleting: the desired set is empty on purpose (verb delete).
	Deleting bool
	// Ejecting: what would be deleted stays, without our marks (verb eject; Deleting is set too).
	Ejecting bool
	// RollingBack: what is declared is an earlier release (verb rollback).
	RollingBack bool
	// BackTo names that release.
	BackTo string
	// LetUnserved lets go of objects whose kind the cluster does not serve.
	LetUnserved bool
	// NoHooks runs none; Tests runs those of the event test.
	NoHooks, Tests bool
	// Diff: field changes will be shown, so changed objects are previewed too; ServerCheck: creates as well.
	Diff        bool
	ServerCheck bool
}

// Package planfile is the file that a plan is saved in: its format, the digests in it that cannot be guessed, and its
// seal, which tells a file that this user's hawser wrote from one that was changed since or made elsewhere.
//
// A seal says who wrote a file, never that it may be carried out: what the file holds is compared with a plan that is
// computed anew (docs/adr/0011-saved-plans-are-verified.md).
//
// planfile must not know what a plan or a request consists of; it carries them as JSON.
package planfile

// Package arch holds the house rules as tests: which room may import which, what the pure rooms may reach, and how
// big, how named and how documented things are. floors.txt says where each room is, exceptions.txt what is let off and
// why; an exception that nothing needs any more fails as well.
//
// arch must not know what a room does.
package arch

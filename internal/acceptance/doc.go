// Package acceptance checks docs/acceptance.md and the pages of docs/acceptance.d, one for each capability, which map every
// promise to the tests that show it: each named test must exist, and in `make test` it must have run and passed; a skipped one
// shows nothing.
//
// A row is `| sentence | tests |`, the tests in backticks as package.Test or package.Test/subtest, the package by its
// path below the module or the end of it.
//
// acceptance must not know what a test does, nor anything of the product.
package acceptance

// Package wire makes bytes of the values that two processes of one program hand each other, and values of the bytes, nothing
// lost: order, integers, what is nil and what is empty, plain data with every position, findings with the sentences that they
// were made of.
//
// The bytes are for the same build of the program on the other side and are kept nowhere. Bytes that nobody's Marshal made are
// an error: no length in them is believed beyond what is there.
//
// wire must not know what the values are for, nor how the bytes get to the other process.
package wire

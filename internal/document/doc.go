// Package document turns a user's files into Programs: any mix of CUE, YAML and JSON that says bundles and a fleet.
//
// A Program is evaluated once per distinct set of inputs: runtime values, the cluster's facts. Every value keeps its
// file and line, errors never carry a runtime value, and nothing is read but the files given, what they import or
// embed below a module root, and standard input.
//
// document must not know clusters' API servers, modules' content, rendering or placement; it makes no connection.
package document

// Package openapi checks objects against the schemas that a cluster publishes (OpenAPI v3, one document per group and
// version) or that a CustomResourceDefinition brings along: unknown fields, types, missing fields, enumerations, bounds, and
// entries of keyed lists that stand twice. It finds only what the API server would refuse as well; what it cannot judge
// (alternatives, CEL rules, admission) it leaves to the server.
//
// Sources: the schemas' form is OpenAPI 3.0 with the extensions of
// https://kubernetes.io/docs/reference/kubernetes-api/ and of structural schemas
// (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/).
//
// Everything here is a pure function of values; openapi must not know clusters, files, or where a document comes from.
package openapi

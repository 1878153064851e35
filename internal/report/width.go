package report

import "hawser.dev/hawser/internal/columns"

// Names lists cluster names in their order, neighbours together.
func Names(names []string) string { return columns.Names(names) }

func width(s string) int                                  { return columns.Width(s) }
func truncate(s string, cols int, ellipsis string) string { return columns.Truncate(s, cols, ellipsis) }
func pad(s string, cols int) string                       { return columns.Pad(s, cols) }
func at(s string, col int, next string) string            { return columns.At(s, col, next) }
func wrap(s string, cols int) []string                    { return columns.Wrap(s, cols) }
func chunks(s string, cols int) []string                  { return columns.Chunks(s, cols) }
func cut(s string, cols int) string                       { return columns.Cut(s, cols) }
func clean(s string) string                               { return columns.Clean(s) }

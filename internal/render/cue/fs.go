package cue

import (
	"bytes"
	"fmt"
	"strings"

	"cuelang.org/go/cue/load"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

// The loader sees a module at a place that does not exist on the disk, made of the content's files alone: what was not
// digested cannot be read. Names below modulePrefix are inside the module until they are shown.
const (
	virtualRoot  = "/@hawser/module"
	modulePrefix = virtualRoot + "/"
)

// overlay reads the content for the loader: all CUE files, and the others when some CUE file embeds files.
func overlay(c module.Content, limits cuelang.Limits) (map[string]load.Source, error) {
	if len(c.Files) > limits.Files {
		return nil, diag.Findings{diag.Errorf("module-too-large",
			"the module has %d files, at most %d are read", len(c.Files), limits.Files)}.Err()
	}
	out := make(map[string]load.Source, len(c.Files))
	embeds := false
	read := func(name string) ([]byte, error) {
		data, err := c.ReadFile(name, limits.SourceBytes)
		if err != nil {
			return nil, fmt.Errorf("file of the module: %w", err)
		}
		out[modulePrefix+name] = load.FromBytes(data)
		return data, nil
	}
	for _, name := range c.Files {
		if strings.HasSuffix(name, ".cue") {
			data, err := read(name)
			if err != nil {
				return nil, err
			}
			embeds = embeds || bytes.Contains(data, []byte("@embed"))
		}
	}
	for _, name := range c.Files {
		if embeds && !strings.HasSuffix(name, ".cue") {
			if _, err := read(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

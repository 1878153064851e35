package templatevalues

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxToml is how many arrays, tables and parts of keys a text of TOML may have: its parser calls itself for each that stands in another.
const maxToml = 100_000

// ReadTOML reads a text of TOML that has no more than that of them.
func ReadTOML(text string, into any) error {
	if strings.Count(text, "[")+strings.Count(text, "{")+strings.Count(text, ".") > maxToml {
		return fmt.Errorf("the text has more than %d arrays, tables and parts of keys", maxToml)
	}
	return toml.Unmarshal([]byte(text), into)
}

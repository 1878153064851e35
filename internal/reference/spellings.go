package reference

import "github.com/spf13/pflag"

// Spelling is another spelling of a flag, known everywhere or under bundle and runtime alone.
type Spelling struct {
	Alias, Flag string
	Everywhere  bool
}

// Spellings are other spellings of flags: Timoni's, kubectl's and Kusion's. Those that are not known everywhere would say too
// little alone.
var Spellings = []Spelling{
	{"runtime", "fleet", true},
	{"workspace", "fleet", true},
	{"runtime-cluster", "cluster", true},
	{"runtime-group", "group", true},
	{"cluster-group", "group", true},
	{"selector", "labels", true},
	{"context", "kube-context", true},
	{"kube-as", "as", true},
	{"kube-as-group", "as-group", true},
	{"auto-approve", "yes", true},
	{"overwrite-ownership", "adopt", true},
	{"force", "recreate", false},
	{"concurrency", "parallel", false},
}

// CommandAliases are other names of commands.
var CommandAliases = map[string][]string{
	"build":  {"template"},
	"vet":    {"lint"},
	"delete": {"rm", "uninstall"},
	"ls":     {"list"},
	"list":   {"ls"},
	"module": {"mod"},
}

// Normalize turns another spelling into the flag it stands for; compat is set under bundle and runtime.
func Normalize(compat bool) func(*pflag.FlagSet, string) pflag.NormalizedName {
	return func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		for _, a := range Spellings {
			if a.Alias == name && (compat || a.Everywhere) {
				return pflag.NormalizedName(a.Flag)
			}
		}
		return pflag.NormalizedName(name)
	}
}

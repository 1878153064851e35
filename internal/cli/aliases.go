package cli

import "github.com/spf13/pflag"

// flagAliases are other spellings of flags: Timoni's, kubectl's and Kusion's. Those with compat are known only under
// `bundle` and `runtime`, because alone they would say too little.
var flagAliases = []struct {
	alias, flag string
	compat      bool
}{
	{"runtime", "fleet", false},
	{"workspace", "fleet", false},
	{"runtime-cluster", "cluster", false},
	{"runtime-group", "group", false},
	{"cluster-group", "group", false},
	{"selector", "labels", false},
	{"context", "kube-context", false},
	{"kube-as", "as", false},
	{"kube-as-group", "as-group", false},
	{"auto-approve", "yes", false},
	{"overwrite-ownership", "adopt", false},
	{"force", "recreate", true},
	{"concurrency", "parallel", true},
}

// commandAliases are other names of commands.
var commandAliases = map[string][]string{
	"build":  {"template"},
	"vet":    {"lint"},
	"delete": {"rm", "uninstall"},
	"ls":     {"list"},
	"list":   {"ls"},
	"module": {"mod"},
}

// normalize turns an alias into the flag it stands for.
func normalize(compat bool) func(*pflag.FlagSet, string) pflag.NormalizedName {
	return func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		for _, a := range flagAliases {
			if a.alias == name && (compat || !a.compat) {
				return pflag.NormalizedName(a.flag)
			}
		}
		return pflag.NormalizedName(name)
	}
}

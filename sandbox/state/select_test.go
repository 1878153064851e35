package state

import (
	"strings"
	"testing"
)

func cluster(name, group string) Cluster { return Cluster{Name: name, Group: group} }

func TestMissing(t *testing.T) {
	tests := map[string]struct {
		clusters, groups string
		have             []Cluster
		want             string
	}{
		"count":                             {"3", "", nil, "c1/default c2/default c3/default"},
		"count grows":                       {"3", "", []Cluster{cluster("c1", "default")}, "c2/default c3/default"},
		"count skips taken names":           {"3", "", []Cluster{cluster("eu", "default"), cluster("c1", "x")}, "c2/default"},
		"count never shrinks":               {"1", "", []Cluster{cluster("c1", "default"), cluster("c2", "default")}, ""},
		"names":                             {"eu,us", "", nil, "eu/default us/default"},
		"names grow":                        {"eu,us", "", []Cluster{cluster("us", "default")}, "eu/default"},
		"names in groups, in order":         {"a,b,c", "staging=1,production=2", nil, "a/staging b/production c/production"},
		"a group may come back":             {"a,b,c", "x=1,y=1,x=1", nil, "a/x b/y c/x"},
		"groups name their clusters":        {"", "staging=1,production=2", nil, "staging-1/staging production-1/production production-2/production"},
		"groups grow":                       {"", "staging=2", []Cluster{cluster("staging-1", "staging")}, "staging-2/staging"},
		"groups skip taken names":           {"", "staging=1", []Cluster{cluster("staging-1", "other")}, "staging-2/staging"},
		"count that agrees with the groups": {"2", "staging=2", nil, "staging-1/staging staging-2/staging"},
		"nothing asked, nothing missing":    {"", "", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := ParseRequest(tt.clusters, tt.groups)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range r.Missing(tt.have) {
				got = append(got, c.Name+"/"+c.Group)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("missing %q, want %q", s, tt.want)
			}
		})
	}
}

func TestParseRequestRefuses(t *testing.T) {
	tests := map[string]struct{ clusters, groups, want string }{
		"zero":               {"0", "", "from 1 to 200"},
		"too many":           {"201", "", "from 1 to 200"},
		"negative":           {"-1", "", "from 1 to 200"},
		"twice":              {"a,b,a", "", `"a" is named twice`},
		"upper case":         {"A", "", "DNS label"},
		"empty name":         {"a,,b", "", "DNS label"},
		"a proxy's context":  {"a-fault", "", "proxies"},
		"no number":          {"", "a", "GROUP=NUMBER"},
		"zero in a group":    {"", "a=0", "GROUP=NUMBER"},
		"a bad group":        {"", "A=1", "group name"},
		"they disagree":      {"3", "a=2", "make them agree"},
		"names disagree too": {"x,y,z", "a=2", "make them agree"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseRequest(tt.clusters, tt.groups); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

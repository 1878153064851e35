package commandline

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"shop.yaml": "shop.yaml", "my shop.yaml": "'my shop.yaml'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := Quoted(in); got != want {
			t.Errorf("Quoted(%q) = %s, want %s", in, got, want)
		}
	}
}

// What goes on from a run repeats its flags, but for those of one run only; a saved plan lets none change that decides.
func TestFlags(t *testing.T) {
	f := pflag.NewFlagSet("apply", pflag.ContinueOnError)
	f.StringArray("file", nil, "")
	f.StringSlice("cluster", nil, "")
	f.Bool("adopt", false, "")
	f.BoolP("yes", "y", false, "")
	f.Int("until-wave", 0, "")
	f.Var(&Credentials{Take: func(string) error { return nil }}, "creds", "")
	if err := f.Parse([]string{"--creds=ada:pw", "--file=shop.yaml", "--cluster=a,b c", "--adopt", "-y", "--until-wave=2"}); err != nil {
		t.Fatal(err)
	}
	if got, want := Same(f, "until-wave"), []string{"--adopt", "--cluster=a", "--cluster='b c'", "--creds=USER:PASSWORD"}; !slices.Equal(got, want) {
		t.Errorf("same: %q, want %q", got, want)
	}
	if got, want := Reach(f), []string{"--cluster=a", "--cluster='b c'"}; !slices.Equal(got, want) {
		t.Errorf("reach: %q, want %q", got, want)
	}
	for again, want := range map[string][]string{"": {"--adopt", "--cluster", "-f", "--until-wave"}, "adopt": {"--cluster", "-f", "--until-wave"}} {
		if got := Decided(f, func(flag string) bool { return flag == again }); !slices.Equal(got, want) {
			t.Errorf("decided, %q again: %q, want %q", again, got, want)
		}
	}
	_ = f.Set("adopt", "false")
	if got := Decided(f, func(flag string) bool { return flag == "adopt" }); !slices.Contains(got, "--adopt") {
		t.Errorf("what is taken back is heeded by nobody: %q", got)
	}
}

// A variable is on or off; what says neither is known as that.
func TestSwitch(t *testing.T) {
	for text, want := range map[string][2]bool{"": {false, true}, "true": {true, true}, "1": {true, true}, "YES": {true, true}, "on": {true, true}, "0": {false, true},
		"False": {false, true}, "no": {false, true}, "Off": {false, true}, "maybe": {false, false}, " ": {false, false}} {
		if on, known := Switch(text); on != want[0] || known != want[1] {
			t.Errorf("Switch(%q) = %v, %v, want %v", text, on, known, want)
		}
	}
}

// Of credentials nothing is shown but the host that they are for, where it is one; what is refused is not kept.
func TestCredentials(t *testing.T) {
	for text, want := range map[string]string{"ada:pw": "USER:PASSWORD", "tok3n": "USER:PASSWORD", "dG9rM24=": "USER:PASSWORD", "ada:p=w": "USER:PASSWORD",
		"127.0.0.1:5599=ada:pw": "127.0.0.1:5599=USER:PASSWORD", "registry.example.com=ada:p=w": "registry.example.com=USER:PASSWORD", "localhost:5000=t": "localhost:5000=USER:PASSWORD",
		"[::1]:5000=ada:pw": "HOST=USER:PASSWORD", "registry=ada:pw": "HOST=USER:PASSWORD", "ada:12=w": "HOST=USER:PASSWORD", "no": ""} {
		c := Credentials{Take: func(text string) error {
			if text == "no" {
				return errors.New("no")
			}
			return nil
		}}
		if err := c.Append(text); (err == nil) != (want != "") || strings.Join(c.GetSlice(), " ") != want || c.String() != "" {
			t.Errorf("%q: %q, %v, want %q", text, c.GetSlice(), err, want)
		}
	}
	var c = Credentials{Take: func(string) error { return nil }}
	if err := c.Replace([]string{"a:b", "h.test=a:b"}); err != nil || len(c.GetSlice()) != 2 {
		t.Error(c.GetSlice(), err)
	}
}

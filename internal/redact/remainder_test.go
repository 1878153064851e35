package redact

import (
	"strings"
	"testing"
	"time"
)

// TestRemainders: what a parser quotes of a secret once more, as far as it could not read it, is hidden with the secret.
func TestRemainders(t *testing.T) {
	const secret = "2021-Zebra9x-Kappa77-Q"
	r := &Redactor{}
	r.AddFor("web", secret)
	r.AddFor("web", "17Zebra9xKappa77")
	_, parsing := time.Parse("2006-01-02", secret)
	_, unit := time.ParseDuration("17Zebra9xKappa77")
	for _, said := range []string{
		parsing.Error(), unit.Error(),
		"rule self.a == " + secret + ": undeclared reference to 'Zebra9x' (in container '')\n undeclared reference to 'Kappa77'",
		"error parsing regexp: `" + secret + "`: bad range `Kappa77-Q`",
	} {
		for name, mask := range map[string]func(string) string{"Said": func(s string) string { return r.Said("web", s) }, "Redact": r.Redact} {
			got := mask(said)
			if strings.Contains(got, "Zebra") || strings.Contains(got, "Kappa") {
				t.Errorf("%s: %s", name, got)
			}
			if !strings.Contains(got, Mask) {
				t.Errorf("%s hides nothing of %s", name, said)
			}
		}
	}
	r.Show("web", "Kappa77")
	for said, want := range map[string]string{
		`parsing time "***" as "2006-01-02"`:                               `parsing time "***" as "2006-01-02"`,
		`no secret here: "Zebra9x" and 'Kappa77'`:                          `no secret here: "Zebra9x" and 'Kappa77'`,
		`Deployment "Kappa77": cannot read "` + secret + `" as "01"`:       `Deployment "Kappa77": cannot read "***" as "01"`,
		`cannot read "` + secret + `" at 'Q', "" and "21` + "\n" + `more"`: `cannot read "***" at 'Q', "" and "21` + "\n" + `more"`,
	} {
		if got := r.Said("web", said); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", said, got, want)
		}
	}
}

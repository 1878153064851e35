package nextstep

import "testing"

// A command in a sentence reaches the clusters that the sentence is about; words that go on with the sentence are no bundles.
func TestCompleted(t *testing.T) {
	const access = "--fleet fleet.yaml"
	for text, want := range map[string]string{
		"since 2026: hawser approve shop":                                                     "since 2026: hawser approve shop --fleet fleet.yaml",
		"since 2026: hawser approve shop --wave 2":                                            "since 2026: hawser approve shop --fleet fleet.yaml --wave 2",
		"hawser resume shop, then run it again; hawser abort shop E2SN gives that release up": "hawser resume shop --fleet fleet.yaml, then run it again; hawser abort shop --fleet fleet.yaml E2SN gives that release up",
		"hawser rollback shop-1.eu --to E2SN --cluster us takes it back":                      "hawser rollback shop-1.eu --fleet fleet.yaml --to E2SN --cluster us takes it back",
		"it goes on with: hawser apply":                                                       "it goes on with: hawser apply -f FILE --fleet fleet.yaml",
		"hawser apply goes on with it":                                                        "hawser apply goes on with it",
		"hawser history shop shows where it is":                                               "hawser history shop --fleet fleet.yaml shows where it is",
		"hawser history shows what":                                                           "hawser history shows what",
		"hawser history diff shows where they are":                                            "hawser history diff shows where they are",
		"hawser rollback takes it back":                                                       "hawser rollback takes it back",
		"hawser drift shop --correct --fleet fleet.yaml":                                      "hawser drift shop --correct --fleet fleet.yaml",
		"hawser status NAME -v shows it":                                                      "hawser status NAME -v shows it",
		"hawser approve a1 --fleet x; hawser approve b waits":                                 "hawser approve a1 --fleet x; hawser approve b --fleet fleet.yaml waits",
	} {
		if got := Completed(text, access); got != want {
			t.Errorf("%q:\n%q, want\n%q", text, got, want)
		}
		if got := Completed(text, ""); got != text {
			t.Errorf("without flags: %q", got)
		}
	}
}

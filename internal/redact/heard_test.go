package redact

import "testing"

// TestMessage: what Secrets hold is hidden in messages alone, together with all else that is secret, and nothing of it in other texts.
func TestMessage(t *testing.T) {
	r := New("Known-passw0rd-1")
	r.AddHeard("Heard-passw0rd-2", "passw0rd-2x9", "web", "")
	const said = "from Known-passw0rd-1 to Heard-passw0rd-2x9 of web, https://ann:pw@example.com"
	if got, want := r.Message(said), "from *** to *** of web, https://***@example.com"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := r.Redact(said), "from *** to Heard-passw0rd-2x9 of web, https://***@example.com"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var none *Redactor
	none.AddHeard("x")
	if got := none.Message(said); got != said {
		t.Error(got)
	}
}

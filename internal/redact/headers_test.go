package redact

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// What a server gives back of a signed request does not show who signed it, nor the signature.
func TestSignedHeadersAreHidden(t *testing.T) {
	const key = "0123456789abcdefghijABCDEFGHIJ0123456789+/x"
	for in, want := range map[string]string{
		"403 Denied: you said AWS4-HMAC-SHA256 Credential=AKIAX/20261126/eu/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=d3f1fd path=/b/k": "403 Denied: you said AWS4-HMAC-SHA256 Credential=***/20261126/eu/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=*** path=/b/k",
		`{"authorization":"AWS4-HMAC-SHA256 Credential=AKIAX/1,SignedHeaders=host,Signature=d3f1fd"}`:                                                   `{"authorization":"AWS4-HMAC-SHA256 Credential=***/1,SignedHeaders=host,Signature=***"}`,
		`"{\"a\":\"AWS4-ECDSA-P256-SHA256 Credential=AKIAX, Signature=d3f1\"}"`:                                                                         `"{\"a\":\"AWS4-ECDSA-P256-SHA256 Credential=***, Signature=***\"}"`,
		"GOOG4-HMAC-SHA256 Credential=GOOGX/20261126/auto/storage/goog4_request, SignedHeaders=host, Signature=d3f1":                                    "GOOG4-HMAC-SHA256 Credential=***/20261126/auto/storage/goog4_request, SignedHeaders=host, Signature=***",
		"Authorization: SharedKey acc:" + key + "=, SharedKeyLite acc:" + key + "=":                                                                     "Authorization: SharedKey acc:***, SharedKeyLite acc:***",
		"aws4-hmac-sha256 credential=AKIAX/20261126/eu, signature=d3f1fd":                                                                               "aws4-hmac-sha256 credential=***/20261126/eu, signature=***",
		"AWS4-HMAC-SHA256+Credential%3DAKIAX%2F20261126%2C+Signature%3Dd3f1fd%20x":                                                                      "AWS4-HMAC-SHA256+Credential%3D***%2F20261126%2C+Signature%3D***%20x",
		"AWS4-HMAC-SHA256%2BCredential%253DAKIAX%252F1%252C+Signature%253Dd3f1fd":                                                                       "AWS4-HMAC-SHA256%2BCredential%253D***%252F1%252C+Signature%253D***",
		"AWS4-HMAC-SHA256 Credential&#61;AKIAX/1, Signature&#61;d3f1fd, Signature&equals;d3f1fd":                                                        "AWS4-HMAC-SHA256 Credential&#61;***/1, Signature&#61;***, Signature&equals;***",
		`AWS4-HMAC-SHA256 Credential\u003dAKIAX/1, Signature\x3dd3f1fd`:                                                                                 `AWS4-HMAC-SHA256 Credential\u003d***/1, Signature\x3d***`,
		"SharedKey+acc%3A" + url.QueryEscape(key+"=") + "&x=1":                                                                                          "SharedKey+acc%3A***&x=1",
		"SharedKey acc:" + url.QueryEscape(key+"=") + " sharedkey acc:" + strings.ToLower(key) + "&#61;. So":                                            "SharedKey acc:*** sharedkey acc:***. So",
		"Signature=1 and Credential=2 of something else":                                                                                                "Signature=1 and Credential=2 of something else",
		"AWS4-HMAC-SHA256 is wanted, with Signature= at its end; SharedKey acc:short":                                                                   "AWS4-HMAC-SHA256 is wanted, with Signature= at its end; SharedKey acc:short",
	} {
		for name, mask := range map[string]func(string) string{"Redact": New().Redact, "Sweep": New().Sweep} {
			if got := mask(in); got != want {
				t.Errorf("%s: %s: %s, want %s", name, in, got, want)
			}
		}
		if got := New("AKIAX").Redact(in); New().Redact(got) != got || strings.Contains(got, "AKIAX") || strings.Contains(got, "d3f1") {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// However many of them a text has, each is looked at once.
func TestSignedHeadersAreLinear(t *testing.T) {
	for _, part := range []string{"Signature=", "Credential=a,", "Signature", "SharedKey ", "SharedKey a:"} {
		text := "AWS4-" + strings.Repeat(part, 1<<20/len(part))
		begin := time.Now()
		New().Sweep(text)
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%q takes %s", part, took)
		}
	}
}

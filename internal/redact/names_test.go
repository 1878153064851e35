package redact

import "testing"

func TestNames(t *testing.T) {
	for text, want := range map[string]bool{
		`{"user":"x","password":"PW"}`: true, `{"a":{"dbPassword": "PW"}}`: true, "user: x\npassword: PW\n": true, "user: x\npassword: |\n  PW\n": true,
		`//r/:_authToken=PW`: true, `{"auths":{"r":{"auth":"dXNlcjpQVzEyMw=="}}}`: true, `{\"auths\":{\"r\":{\"auth\":\"dXNlcjpQVzEyMw==\"}}}`: true,
		"//r/:_auth=dXNlcjpQVzEyMw==": true, "machine db login u password PW": true, "db:5432:shop:u:PW": true, "curl -u me:PW https://x": true,
		"[client]\npassword = PW": true, "apiKey: PW": true, `{"client_secret":"PW"}`: true, "--password=PW --x": true,
		"": false, "production": false, `{"a": 1}`: false, `{"password":null,"x":1}`: false, "password: false": false, `{"password":""}`: false,
		`{"secret": {"name": "x"}}`: false, "secret:\n  name: x\n": false, `{"compass":"north"}`: false, "bypass=all": false, `{"auth":"none"}`: false,
		`{"auth":"internal"}`: false, "docker run -u 1000:1000 x": false, "fe80:1:2:3:4:5": false, "nginx:1.27@sha256:0e4e7a3b0f0e": false, "basic auth": false,
		"max_tokens: 5": false, "mailto:a@b.example:25": false, "10.0.0.1:5432,10.0.0.2:5432": false,
	} {
		if Names(text) != want {
			t.Errorf("%s: want %t", text, want)
		}
	}
}

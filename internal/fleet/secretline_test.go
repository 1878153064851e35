package fleet

import "testing"

func TestSecretLine(t *testing.T) {
	for line, want := range map[string]bool{
		"    age: {key: AGE-SECRET-KEY-1QQQQQQQQQQQQ}": true, "  token: abcdefg1": true, `  eu: {token: "abcdefg1", labels: {a: b}}`: true, "password = 'hunter2'": true,
		"  - -----BEGIN PRIVATE KEY-----": true, "  clientSecret: hunter2": true, "  url: postgres://a:b@h/x": true, "  x: ghp_abcdefghij0123": true,
		"  kubeconfig: YXBpVmVyc2lvbjogdjEKY2x1c3RlcnM6IFtdCnVzZXJzOiBbXQo=":     true,
		"us: {kubeconfig: YXBpVmVyc2lvbjogdjEKY2x1c3RlcnM6IFtdCnVzZXJzOiBbXQo=}": true,
		"  password: ref://vault/db#pw":                                          false, "  token: ${TOKEN}": false, "  token: {from: {instance: db}}": false, "password!: string": false, "password: string": false, "  token: #token,": false,
		`  password: *"hunter2" | string`: true, `  token: ["abcdefg1"]`: true, `  pass: ("hunter2")`: true, `  clientSecret: "_hunter2"`: true, `  apiKey: "*hunter2"`: true,
		"  password: *shared": false, "  password: |": false, "  password: >-": false, "  token: _token": false,
		"  signatures: [{by: [{key: 'MHcCAQEEIhunter2'}]}]": true, "  key: MIIEvQIBADANBg": true, "  key: cosign.pub": false, "  name: MHC": false,
		"  replicas: 3": false, "  placement: {groups: [nobody]}": false, "  secretName: db": false, "  keyFile: age.txt": false, "": false, "  token:": false,
	} {
		if SecretLine(line) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

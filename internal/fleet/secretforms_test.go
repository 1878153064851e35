package fleet

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"time"
)

const kubeconfig = "apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user:\n    client-certificate: u.crt\n    client-key-data: TUhjQ0FRRUVJRQ==\n"

var digits, mixed = strings.Repeat("0a1b2c3d", 8), strings.Repeat("aB3dE6gH", 10)

// secretTexts are secret by their form, whatever they are called.
var secretTexts = []string{
	// keys
	kubeconfig, `{"users":[{"user":{"client-key-data":"LS0tLS1CRUdJTiBQUklWQVRF"}}]}`, "tls.key: LS0tLS1CRUdJTiBQUklWQVRF", "TLS_KEY=LS0tLS1CRUdJTiBQUklWQVRF", `{"tls.key":"LS0tLS1CRUdJTiBQUklWQVRF"}`,
	"-----BEGIN OpenVPN Static key V1-----\n0a1b\n-----END OpenVPN Static key V1-----", `{"kty":"EC","crv":"P-256","x":"aB3dE6gHaB3dE6gHaB3d","d":"aB3dE6gHaB3dE6gHaB3dE6gH"}`, `{"k":"aB3dE6gHaB3dE6gHaB3dE6gH","kty":"oct"}`,
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ", "MHcCAQEEIB0h1x2y3zAaBbCcDdEeFfGgHhIiJjKkLlMmNnOo", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB", "key: MIIEowIBAAKCAQEA0h1x2y3zAaBbCcDdEeFfGgHhIiJjKk",
	// fields
	"pw: X9", `{"pw":"X9"}`, "passwort: X9", "export DB_PW=X9", "a=1\nMYSQL_ROOT_PW=X9\n", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata:\n  a: aHVudGVyMg==\n", `{"data":{"a":"aHVudGVyMg=="},"kind":"Secret"}`,
	"password: &anchor PW", "db:\n  password: &pw 'PW'\n", `{"passwords":["PW"]}`, "passwords:\n  - PW\n", "secret:\n  value: PW\n", `{"secret":{"value":"PW"}}`, "token:\n  value: true1", `[{"name":"DB_PASSWORD","value":"PW"}]`,
	"- name: DB_PASSWORD\n  value: PW\n", `[{"value":"PW","name":"DB_PASSWORD"}]`, `{"key":"api.token","value":"PW"}`, `{"accessTokens":["PW"]}`, `{"github-oauth":{"github.com":"PW1"}}`, `{"gitlab-token":{"gitlab.com":"PW1"}}`,
	`{"bearer":{"repo.example":"PW1"}}`,
	// layers
	"NAME=" + base64.StdEncoding.EncodeToString([]byte("postgres://u:pw@h/db")), "a: 1\nb: " + base64.StdEncoding.EncodeToString([]byte(kubeconfig)) + "\nc: 2", base64.StdEncoding.EncodeToString([]byte(kubeconfig)),
	`{"auth":"` + base64.RawURLEncoding.EncodeToString([]byte(`{"password":"hunter2"}`)) + `"}`, url.QueryEscape("postgres://u:pw@h/db"), "mssql+pyodbc:///?odbc_connect=" + url.QueryEscape("Driver={ODBC};Server=h;PWD=PW"), "x=" + url.QueryEscape(url.QueryEscape("postgres://u:pw@h/db")),
	// commands, statements, directives
	"keytool -list -storepass PW", "keytool -importkeystore -srcstorepass PW -deststorepass 'PW'", "keytool -keypass PW", "openssl enc -aes-256-cbc -k PW -in a", "openssl rsa -passin pass:PW -in a", "openssl pkcs12 -passout 'pass:PW'", `["-passin","pass:PW"]`,
	"CREATE USER 'a'@'%' IDENTIFIED BY 'PW'", "alter user a identified with mysql_native_password by 'PW';", "CREATE ROLE a LOGIN PASSWORD 'PW'", "requirepass PW", "maxmemory 1gb\nrequirepass \"PW\"\n", "redis-server --requirepass PW", `["--requirepass","PW"]`, "masterauth PW",
	"scott/PW@//db:1521/x", "jdbc:oracle:thin:scott/PW@//db/x", "jdbc:oracle:thin:scott/PW@db:1521:x", "sqlplus scott/PW@db", "sqlplus -S scott/PW@db @run.sql",
	// hashes
	"$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy", "admin:$2y$05$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy", "$6$saltsalt$" + mixed, "root:$6$rounds=5000$saltsalt$" + mixed + ":19000:0", "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA",
	"admin:$apr1$saltsalt$" + mixed[:22], "$y$j9T$salt$" + mixed[:43], "{SSHA}" + mixed[:32], "pbkdf2_sha256$260000$salt$hash", "SCRAM-SHA-256$4096:c2FsdA==$x:y",
	// addresses and tokens
	"https://hooks.zapier.com/hooks/catch/1/ab/", "https://chat.example.com/hooks/" + strings.Repeat("a1", 13), "https://api.vercel.com/v1/integrations/deploy/prj_x/y", "https://api.netlify.com/build_hooks/0a1b", "sk-svcacct-" + mixed, "sk-admin-" + mixed, "xai-" + mixed, "pplx-" + mixed[:48],
	"squ_" + digits[:40], "sqp_" + digits[:40], "CCIPAT_" + mixed, "bkua_" + digits[:40], "snyk_uat.0a1b2c3d.eyJ", "FlyV1 fm2_" + mixed, "fm2_" + mixed, "HRKU-" + mixed, "AKCp" + mixed[:69], "dt0c01." + strings.ToUpper(mixed[:24]) + "." + strings.ToUpper(mixed[:64]), "key-" + digits[:32],
	"api:key-" + digits[:32], mixed[:3] + "8Q~" + mixed[:34], "secret " + mixed[:3] + "7Q~" + mixed[:31], "sk.eyJ1IjoiYSJ9" + mixed, "CFPAT-" + mixed[:43], "SU" + strings.Repeat("A2B3C4D5", 7), "seed SX" + strings.Repeat("A2B3C4D5", 7) + ",",
}

// ordinaryTexts are none: most are like those above.
var ordinaryTexts = []string{
	"kind: Secret", `{"kind":"Secret","name":"db"}`, "kind: ConfigMap\ndata:\n  secretName: a\n", "powers: 3", "pwm: 3", "mypw", "http_pwa: x",
	"ghcr.io/acme/web:1.27@sha256:" + digits, "sha256:" + digits, "sha512-" + mixed + "==", digits[:40], "0a1b2c3d-0a1b-4c2d-8e3f-0a1b2c3d4e5f", "key-0a1b", "key-" + digits[:31], "cache-key-" + digits[:32], "key-" + digits[:32] + ".json", "app.kubernetes.io/name=web,tier!=prod",
	"client-key-data", "client-key-data: {{ .Values.key }}", "certificate-authority: /etc/ca.crt", "LS0t", "---\napiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n", "-----BEGIN", `{"kty":"EC","crv":"P-256","x":"aB3dE6gHaB3dE6gHaB3d","y":"aB3dE6gHaB3dE6gHaB3d"}`,
	`{"k":"aB3dE6gHaB3dE6gHaB3dE6gH"}`, "password: &anchor", "name: &n web", "a && b", "passwords: []", `{"tokens":["<s>","</s>"]}`, "stopTokens:\n  - end", "imagePullSecrets: [regcred]", `{"secrets":["db","web"]}`, "secret:\n  name: db\n", "secret:\n  value: null\n",
	"secret:\n  value: ${DB_PASSWORD}\n", `{"secret":{"valueFrom":"x"}}`, "- name: LOG_LEVEL\n  value: info\n", `[{"name":"HOST","value":"web.example"},{"name":"TOKEN_TTL","value":"1h"}]`, "- name: DB_PASSWORD\n  valueFrom: {secretKeyRef: {name: db, key: password}}\n",
	"- name: DB_PASSWORD\n  value: \"\"\n", "- name: DB_PASSWORD\n  value: $(PW)\n", `{"scripts":{"build":"tsc -p ."},"dependencies":{"a":"^1.0.0"}}`, `{"github-oauth":{}}`, `{"oauth":{"issuer":"https://id.example"}}`, "bearer: {}", "securitySchemes: {bearer: {type: http, scheme: bearer}}", `{"oauth":{"flows":{"a":"b"}}}`,
	"NAME=" + base64.StdEncoding.EncodeToString([]byte("an ordinary text of words")), "a=aGVsbG8gd29ybGQgaGVsbG8=", url.QueryEscape("https://shop.example/a?b=c"), "100%", "50%25 of it", "%d items in %s", "date +%Y-%m-%dT%H:%M", "/a%20b/c%2Fd",
	"keytool -storepass $PW", "curl -k https://h", "openssl x509 -in a -out b", "openssl s_client -connect h:443 -servername h", "openssl rsa -passin env:PW", "openssl enc -K $KEY", "hosts are identified by name", "identified by '$PW'",
	"requirepass", `requirepass ""`, "requirepass $PW", "acme/web@main", "actions/checkout@v4", "org/repo/.github/workflows/x.yml@main", "npm/@scope/pkg@1.2.3", "jdbc:oracle:thin:@//db:1521/x", "jdbc:oracle:thin:@db:1521:x", "sqlplus /nolog",
	"cost is $6", "$2a", "$1$2", "awk '{print $1$2}'", "s/a$/b$1/", "$6$", "{sha256}", "sha256{a}", "https://hooks.example.com/", "https://x.example/hooks/github", "https://api.vercel.com/v1/projects", "https://zapier.com", "sk-", "sk-web-frontend", "xai-grok-2", "pplx-7b-online", "squ_x", "CCIPAT_",
	"snyk_uat", "fm2_", "HRKU-", "AKCp", "dt0c01", "a8Q~b", "~/x/8Q~", "sk.eyJ", "CFPAT-", "SUCCESS", "SU" + strings.Repeat("A2B3C4D5", 6), "x" + "SU" + strings.Repeat("A2B3C4D5", 7), "MII", "MIIEvil", "MHcCAQ", "b3Blbg==", "H4sIAAAAAAAAA0vLz1dISixSqAUAI",
	strings.Repeat("ordinary-name-of-a-thing/", 8), "eu-central-1a,eu-central-1b", "com.example.shop.payments.PaymentServiceApplication", "projects/acme/locations/europe-west3/keyRings/r/cryptoKeys/k", "arn:aws:iam::123456789012:role/web",
}

func TestSecretForms(t *testing.T) {
	for _, text := range secretTexts {
		for _, whole := range []string{text, "\n" + text + "\n", base64.StdEncoding.EncodeToString([]byte(text))} {
			if !SecretVar("ADDRESS", whole) {
				t.Errorf("%q is no secret", whole)
			}
		}
	}
	for _, text := range ordinaryTexts {
		for _, whole := range []string{text, "x: " + text, base64.StdEncoding.EncodeToString([]byte(text))} {
			if SecretVar("ADDRESS", whole) {
				t.Errorf("%q is a secret", whole)
			}
		}
	}
	if last := strings.Repeat("{name: A, value: b}\n&a b: &c d\n", 20000) + `{"secret":{"value":"PW"}}`; !SecretVar("ADDRESS", last) {
		t.Error("what stands at the end of a long text is not looked at")
	}
	for name, want := range map[string]bool{"BASICAUTH": true, "basicAuth": true, "OAUTH": true, "OAUTH2": true, "SECRETKEYBASE": true, "SECRET_KEY_BASE": true, "PASSWORDHASH": true, "PASSWORD_HASH": true, "SENTRYDSN": true, "sentryDsn": true, "WEBHOOKURL": true,
		"SLACK_WEBHOOKURL": true, "TOKENVALUE": true, "GCPCREDS": true, "CREDENTIALSJSON": true, "GOOGLE_CREDENTIALSJSON": true, "LICENCE": true, "ACME_LICENCE": true, "LICENCES_URL": false, "SACRED": false, "TOKENIZER": false, "PASSWORDLESS": false, "AUTHOR": false, "HASH": false,
		"VALUE": false, "OAUTH_ENABLED": false, "HOOKURL": false} {
		if SecretName(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}

// TestSecretFormsAreLinear: long texts are judged in well under a second on a machine that does nothing else, and as their length is, also where
// many of the forms are looked for.
func TestSecretFormsAreLinear(t *testing.T) {
	for _, line := range []string{"level: info # ordinary text of a config, host: web.example:8080\n", "a", `{"name":"LOG_LEVEL","value":"info"},`, "a%3Ab%2Fc ", base64.StdEncoding.EncodeToString([]byte("an ordinary text")) + "\n", "a/b@c:d ",
		"mysql login curl -x $6 &a cookie value: name: key://h passw token secret identified oauth -u x %\n"} {
		took := func(size int) time.Duration {
			text := strings.Repeat(line, size/len(line))
			start := time.Now()
			if SecretVar("ADDRESS", text) {
				t.Fatalf("%q is a secret", line)
			}
			return time.Since(start)
		}
		one, ten := took(100<<10), took(1<<20)
		for tries := 1; ten > 40*one && tries < 5; tries++ { // the machine is shared
			one, ten = took(100<<10), took(1<<20)
		}
		t.Logf("%q: 1 MiB takes %s", line, ten)
		if ten > 40*one || ten > time.Minute {
			t.Errorf("%q: 100 KiB take %s, 1 MiB %s", line, one, ten)
		}
	}
}

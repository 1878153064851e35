package fleet

import (
	"slices"
	"strings"
	"testing"
)

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"DB_PASSWORD": true, "GITHUB_TOKEN": true, "AWS_SECRET_ACCESS_KEY": true, "api-key": true, "PWD": false, "PATH": false,
		"MONKEY": false, "TIMONI_CLUSTER_NAME": false, "MYTOKEN": true, "DB_PWD": true, "KEYBOARD": false,
		"GITHUB_PAT": true, "SSHPASS": true, "PGPASSWORD": true, "COMPASS": false, "PATTERN": false, "PATIENT": false,
		"JWT": true, "SESSION_JWT": true, "AUTHORIZATION": true, "HTTP_AUTHORIZATION": true, "CONNECTIONSTRING": true, "dbConnectionString": true,
		"CONNECTION_STRING": true, "SQL_CONNECTION_STRING_EU": true, "db-connection-string": true, "AZURE_SAS": true, "SAS": true, "OTP": true, "VAULT_TOTP": true,
		"CARD_PIN": true, "PIN": true, "TLS_PEM": true, "PEM": true, "DB_DSN": true, "SENTRY_DSN": true,
		"SASKATCHEWAN": false, "PINE": false, "SPINNER": false, "PINNED": false, "DESPOTPLACE": false, "OTPLESS": false, "TEMPEMAIL": false, "CONNECTION_LIMIT": false,
		"PASSWORD1": true, "TOKEN2": true, "DB_PW": true, "APP_PASSWORT": true, "SIGNING_SEED": true, "XSECRETS_V2": true, "dbTokens": true, "API_KEYV2": true, "CONNECTION_STRING2": true,
		"SEEDLING": false, "PWA_URL": false, "APW": false, "PASSWORTLOS": false, "SEEDS_URL": false, "S3_BUCKET": false, "V2": false, "MONKEY2": false, "12": false, "COMPASS2": false,
		"STRING_CONNECTION": false, "CONNECTION_POOL_STRING": false, "SHIPPING": false, "AUTHORIZATIONS_ENABLED": false, "OPEMPORT": false, "JWTISH": false, "KANSAS": false,
	} {
		if SecretName(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}

func TestSecretVar(t *testing.T) {
	for value, want := range map[string]bool{
		"https://me:pw@host/x": true, "postgres://u:p@db/x": true, "https://token@host": true, "ssh://git@host/x": false, "https://host/a@b": false,
		"git@host:x": false, "": false, "mailto:a@b": false, "mailto:a@b.example:25": false,
		"user:pw@tcp(db.example:3306)/shop?tls=true": true, "user:pw@unix(/run/mysql.sock)/shop": true, "user:pw@/shop": true, "user:p/w@db:5432": true,
		"postgres://u:p@a:5432,b:5432/db": true, "jdbc:mysql://u:p@db/x": true, "redis://:pw@host:6379/0": true, "amqp://u:p@a,amqp://u:p@b": true,
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n": true, `-----BEGIN PRIVATE KEY-----\nMIIE`: true, "LS0tLS1CRUdJTiBQUklWQVRF": true,
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln": true, "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.": true, "Bearer hunter2-x9": true, "Basic dXNlcjpwdw==": true,
		"Server=db;User Id=sa;Password=pw": true, "host=db user=u password=pw": true, "https://x.example/c?sv=1&sig=abc%3D": true,
		"https://x.example/c?X-Amz-Date=1&X-Amz-Signature=ab": true, "https://x.example/hook#token=ab": true, "https://x.example/c?page=1&keys=a": false,
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=k==": true, "jdbc:postgresql://db/x?user=u&password=p": true,
		"nginx:1.27@sha256:0e4e7a3b0f0ed1cd4e5c8d5c38e4f5cf": false, "registry.example:5000/app@sha256:0e4e": false, "registry.example:5000/app:1@sha256:0e4e": false,
		"npm:left-pad@1.2.3": false, "https://host:8443/a@b": false, "db.example:5432": false, "http://db.example:80/?q=a@b": false, "1.2.3": false, "a.b.c": false,
		"12:30@home": false, "eyJustaname": false, "eyJ.b.c": false, "basic auth": false, "bearer": false, "host=db sslmode=require": false, "resig=1": false,
		"//r/:_authToken=PW": true, `{"user":"x","password":"PW"}`: true, `{"auths":{"r":{"auth":"dXNlcjpQVzEyMw=="}}}`: true, "user: x\npassword: PW": true,
		"cG9zdGdyZXM6Ly91OlBXQGRiL3g=": true, "eyJ1c2VyIjoieCIsInBhc3N3b3JkIjoiUFcifQ==": true, "Y0c5emRHZHlaWE02THk5MU9sQlhRR1JpTDNnPQ==": true,
		"ghp_abcdEFGH1234ijklMNOP5678qrstUVWX9012": true, "github_pat_11ABCDEFG0abcdefghij": true, "glpat-abcdefghij1234567890": true, "xoxb-123456789012-abcdef": true,
		"sk_live_abcdefghijklmnop": true, "AKIAIOSFODNN7EXAMPLE": true, "https://hooks.slack.com/services/T000/B000/PW": true, "hvs.CAESIJabcdefghijkl": true,
		"https://hooks.slack.com/": false, "ghp_x": false, "task-12345678901234567890": false, "risk-abcdefghijabcdefghijab": false, "AKIA": false, "docker run -u 1000:1000 x": false,
		"cHJvZHVjdGlvbiBldQ==": false, `{"secret": {"name": "x"}}`: false, "npm_config_cache": false, "/usr/bin:/bin:/usr/local/bin": false, "2001:0:1:2:3:4": false,
		"-----": false, "production": false, "{\"a\": 1}": false, "sip:u@host:5060": false,
	} {
		if got := SecretVar("ADDRESS", value); got != want { // its name says nothing
			t.Errorf("%q: %t", value, got)
		}
	}
}

// TestSecretNameNumbered: a number, or a version, behind a word that says that something is a secret makes it no other word.
func TestSecretNameNumbered(t *testing.T) {
	for _, word := range slices.Concat(secretWords, secretPairs, secretEnds) {
		for _, name := range []string{"X_" + word, "X_" + word + "1", "X_" + word + "42", "X_" + word + "_2", "X_" + word + "_V2", "X_" + word + "V2", strings.ToLower(word) + "2", word + "3-EU"} {
			if !SecretName(name) {
				t.Errorf("%s is no secret", name)
			}
		}
	}
}

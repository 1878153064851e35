package fleet

import "hawser.dev/hawser/internal/lazyregexp"

// databases are the schemes of addresses that have a user and a password as a rule, and no path with an @.
const databases = `(?:postgres(?:ql)?|mysql|mariadb|rediss?|mongodb|amqps?|sqlserver|mssql|oracle|clickhouse|cockroach(?:db)?|cassandra|couchdb|neo4j|` +
	`bolt|nats|mqtts?|ldaps?|influxdb|snowflake|vertica|smtps?|sentinel)(?:\+[a-z0-9]+)*`

// noPorts is a password behind an option that is for ports in other commands (3306:3306).
const noPorts = `["']?(?:[^\s"'$:]+(?:[\s"';|&]|$)|[^\s"'$]*[^\s"'$0-9:./])`

// secretForms are what is secret whatever it is called.
var secretForms = []*lazyregexp.Regexp{
	// A user's password in an address, also of several hosts, and in one that has another before it: postgres://u:p@a,b/db,
	// jdbc:mysql://u:p@db/x.
	lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:]*:[^\s/?#@]+@`),
	// PEM, also with its lines written as \n, and in base64; a key of age.
	lazyregexp.New(`-----BEGIN [A-Z0-9 ]+-----|^LS0tLS1CRUdJTi|AGE-SECRET-KEY-1`),
	// JSON Web Tokens and what they are encrypted to: three or five parts, of which the first is a JSON object in base64.
	lazyregexp.New(`(?:^|[\s:="',;])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*`),
	// A header: Bearer TOKEN, Basic BASE64.
	lazyregexp.New(`(?i)^(?:authorization: *)?(?:bearer|basic) [A-Za-z0-9+/=._~-]{6,}$`),
	// A list of KEY=VALUE: ADO.NET, libpq, JDBC, storage accounts, what signs an address. Those of whole addresses are known to redact.
	lazyregexp.New(`(?i)(?:^|[;&?,\s])(?:password|passwd|pwd|secret|accountkey|sharedaccesskey|sharedaccesssignature|sig|access_token) *= *[^;&,\s]`),
	// Private keys of PuTTY, of SSH2 and of minisign.
	lazyregexp.New(`PuTTY-User-Key-File-|---- BEGIN SSH2 [A-Z ]*PRIVATE KEY ----|untrusted comment:[^\n]*secret key`),
	// Options of commands that are passwords, not what a shell or a template puts there: --password PW, sshpass -p PW, mysql -pPW (-p3306:3306 are ports), redis-cli -a PW,
	// ldapsearch -w PW, docker login -p PW, curl -uUSER:PW.
	lazyregexp.New(`(?i)(?:^|[\s"'])--(?:[a-z0-9]+-)*(?:password|passwd|passphrase|pass|pwd|token|client-secret|(?:api|access|secret|auth)-?key)(?:=|\s+(?:- +)?|["']\s*,\s*)["']?[^\s"'$<{-]`),
	lazyregexp.New(`\bsshpass\s(?:[^|;&\n]*\s)?-p\s*["']?[^\s"'$]|\bredis-(?:cli|benchmark)\s(?:[^|;&\n]*\s)?-a\s*["']?[^\s"'$]|\bldap(?:search|modify|add|delete|compare|modrdn|passwd|whoami)\s(?:[^|;&\n]*\s)?-w\s*["']?[^\s"'$]|` +
		`\b(?:mongo[a-z]*|login)\s(?:[^|;&\n]*\s)?-p\s*` + noPorts + `|\bcurl\s(?:[^|;&\n]*\s)?-[a-zA-Z]*u\s*["']?[^\s"':$]+:[^\s"'$]`),
	lazyregexp.New(`\b(?:mysql|mariadb)[a-z-]*\s(?:[^|;&\n]*\s)?-p` + noPorts),
	// Elements and properties of XML: <password>PW</password>, <property name="password" value="PW"/>.
	lazyregexp.New(`(?i)<(?:[\w.-]+:)?[\w.-]*(?:password|passwd|passphrase|pwd|token|secret|(?:api|access|private|secret)[-_.]?key)(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[[^\]$]|[^<\s$@{])[^<]*</|` +
		`\b(?:name|key)\s*=\s*["'][\w.:-]*(?:password|passwd|passphrase|pwd|token|secret|(?:api|access|private|secret)[-_.]?key)["']\s+value\s*=\s*["'][^"'$@{]`),
	// Cookies: Cookie: x=PW.
	lazyregexp.New(`(?i)(?:^|[\s"'{,])(?:set-)?cookie2?["']?\s*:\s*["']?[^\s=;"']+=[^\s;"']`),
	// Addresses of databases whose password has a slash, or what else should be escaped; no port with a path behind it.
	lazyregexp.New(`(?i)\b` + databases + `://[^\s/?#@:\[]*:(?:[^\s?#@]+|(?:[^\s@0-9]|[0-9]+[^\s@0-9/?#,;:])[^\s@]*)@[\w.\[(-]`),
	// Addresses of webhooks, which let anybody write who knows them.
	lazyregexp.New(`(?i)\bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[^\s]|\bdiscord(?:app)?\.com/api/webhooks/[^\s]|\.webhook\.office\.com/[^\s]|\bapi\.telegram\.org/bot[0-9]`),
}

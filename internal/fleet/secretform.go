package fleet

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// databases are the schemes of addresses that have a user and a password as a rule, and no path with an @.
const databases = `(?:postgres(?:ql)?|mysql|mariadb|rediss?|mongodb|amqps?|sqlserver|mssql|oracle|clickhouse|cockroach(?:db)?|cassandra|couchdb|neo4j|` +
	`bolt|nats|mqtts?|ldaps?|influxdb|snowflake|vertica|smtps?|sentinel)(?:\+[a-z0-9]+)*`

// noPorts is a password behind an option that is for ports in other commands (3306:3306).
const noPorts = `["']?(?:[^\s"'$:]+(?:[\s"';|&]|$)|[^\s"'$]*[^\s"'$0-9:./])`

// form is what is secret whatever it is called. Each text of the form has one of some parts in it, in small letters, which are looked for
// first; none for what is found as fast.
type form struct {
	parts []string
	*lazyregexp.Regexp
	// name is what stands right before it; nil for nothing. Then the text is judged in small letters.
	name *lazyregexp.Regexp
}

// longestName is how far back the name is looked for that stands before a form.
const longestName = 80

// in reports whether a text has the form; lower is the text in small letters.
func (f form) in(text, lower string) bool {
	if f.parts != nil && !slices.ContainsFunc(f.parts, func(part string) bool { return strings.Contains(lower, part) }) {
		return false
	}
	if f.name == nil {
		return f.MatchString(text)
	}
	return slices.ContainsFunc(f.FindAllStringIndex(lower, -1), func(at []int) bool {
		from := max(0, at[0]-longestName)
		near := func(word string) bool { return strings.Contains(lower[from:at[1]], word) }
		return slices.ContainsFunc(words, near) && f.name.MatchString(lower[from:at[0]])
	})
}

// words are the parts of the names of passwords.
var words = []string{"passw", "pass", "pwd", "token", "secret", "key", "credential"}

var secretForms = []form{
	// A user's password in an address, also of several hosts, and in one that has another before it: postgres://u:p@a,b/db,
	// jdbc:mysql://u:p@db/x.
	{[]string{"://"}, lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:]*:[^\s/?#@]+@`), nil},
	// PEM, also with its lines written as \n, and in base64; OpenVPN's static keys; a key of age.
	{[]string{"-----begin ", "ls0tls1crudjti", "age-secret-key-1"}, lazyregexp.New(`-----BEGIN [A-Za-z0-9 ]+-----|(?:^|[\s:="',{\[])LS0tLS1CRUdJTi|AGE-SECRET-KEY-1`), nil},
	// JSON Web Tokens and what they are encrypted to: three or five parts, of which the first is a JSON object in base64.
	{[]string{"eyj"}, lazyregexp.New(`(?:^|[\s:="',;])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*`), nil},
	// A header: Bearer TOKEN, Basic BASE64.
	{nil, lazyregexp.New(`(?i)^(?:authorization: *)?(?:bearer|basic) [A-Za-z0-9+/=._~-]{6,}$`), nil},
	// A list of KEY=VALUE: ADO.NET, libpq, JDBC, storage accounts, what signs an address. Those of whole addresses are known to redact.
	{[]string{"passw", "pwd", "secret", "accountkey", "sharedaccess", "sig", "access_token"}, lazyregexp.New(`(?i)(?:^|[;&?,\s])(?:password|passwd|pwd|secret|accountkey|sharedaccesskey|sharedaccesssignature|sig|access_token) *= *[^;&,\s]`), nil},
	// Private keys of PuTTY, of SSH2 and of minisign.
	{[]string{"putty-user-key-file-", "---- begin ssh2", "untrusted comment:"}, lazyregexp.New(`PuTTY-User-Key-File-|---- BEGIN SSH2 [A-Z ]*PRIVATE KEY ----|untrusted comment:[^\n]*secret key`), nil},
	// Options of commands that are passwords, not what a shell or a template puts there: --password PW, sshpass -p PW, mysql -pPW (-p3306:3306 are ports), redis-cli -a PW,
	// ldapsearch -w PW, docker login -p PW, curl -uUSER:PW.
	{words, lazyregexp.New(`(?i)(?:^|[\s"'])--(?:[a-z0-9]+-)*(?:password|passwd|passphrase|pass|pwd|token|client-secret|(?:api|access|secret|auth)-?key)(?:=|\s+(?:- +)?|["']\s*,\s*)["']?[^\s"'$<{-]`), nil},
	{[]string{"sshpass", "redis-", "ldap", "mongo", "login", "curl"}, lazyregexp.New(`\bsshpass\s(?:[^|;&\n]*\s)?-p\s*["']?[^\s"'$]|\bredis-(?:cli|benchmark)\s(?:[^|;&\n]*\s)?-a\s*["']?[^\s"'$]|\bldap(?:search|modify|add|delete|compare|modrdn|passwd|whoami)\s(?:[^|;&\n]*\s)?-w\s*["']?[^\s"'$]|` +
		`\b(?:mongo[a-z]*|login)\s(?:[^|;&\n]*\s)?-p\s*` + noPorts + `|\bcurl\s(?:[^|;&\n]*\s)?-[a-zA-Z]*u\s*["']?[^\s"':$]+:[^\s"'$]`), nil},
	{[]string{"mysql", "mariadb"}, lazyregexp.New(`\b(?:mysql|mariadb)[a-z-]*\s(?:[^|;&\n]*\s)?-p` + noPorts), nil},
	// Elements and properties of XML: <password>PW</password>, <property name="password" value="PW"/>.
	{words, lazyregexp.New(`(?i)<(?:[\w.-]+:)?[\w.-]*(?:password|passwd|passphrase|pwd|token|secret|(?:api|access|private|secret)[-_.]?key)(?:\s[^<>]*)?>\s*(?:<!\[CDATA\[[^\]$]|[^<\s$@{])[^<]*</|` +
		`\b(?:name|key)\s*=\s*["'][\w.:-]*(?:password|passwd|passphrase|pwd|token|secret|(?:api|access|private|secret)[-_.]?key)["']\s+value\s*=\s*["'][^"'$@{]`), nil},
	// Cookies: Cookie: x=PW.
	{[]string{"cookie"}, lazyregexp.New(`(?i)(?:^|[\s"'{,])(?:set-)?cookie2?["']?\s*:\s*["']?[^\s=;"']+=[^\s;"']`), nil},
	// Addresses of databases whose password has a slash, or what else should be escaped; no port with a path behind it.
	{[]string{"://"}, lazyregexp.New(`(?i)\b` + databases + `://[^\s/?#@:\[]*:(?:[^\s?#@]+|(?:[^\s@0-9]|[0-9]+[^\s@0-9/?#,;:])[^\s@]*)@[\w.\[(-]`), nil},
	// Addresses of webhooks, which let anybody write who knows them.
	{[]string{"hooks.slack", "discord", "webhook.office.com", "api.telegram.org/bot", "hooks.zapier.com", "/hooks/", "api.vercel.com", "api.netlify.com"}, lazyregexp.New(`(?i)\bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[^\s]|\bdiscord(?:app)?\.com/api/webhooks/[^\s]|\.webhook\.office\.com/[^\s]|\bapi\.telegram\.org/bot[0-9]|` +
		`\bhooks\.zapier\.com/hooks/[^\s]|/hooks/[a-z0-9]{26}(?:$|[^a-z0-9])|\bapi\.vercel\.com/v[0-9]+/integrations/deploy/[^\s]|\bapi\.netlify\.com/build_hooks/[^\s]`), nil},
	// The key of a kubeconfig; a JSON Web Key that is private is known to jwk.
	{[]string{"client-key-data"}, lazyregexp.New(`\bclient-key-data["']?\s*:\s*["']?[A-Za-z0-9+/]{8}`), nil},
	// The manifest of a Secret with its data.
	{[]string{"secret"}, lazyregexp.New(`(?s)\bkind["']?\s*:\s*["']?Secret(?:List)?\b.*\b(?:stringData|data)["']?\s*:|\b(?:stringData|data)["']?\s*:.*\bkind["']?\s*:\s*["']?Secret\b`), nil},
	// Options of keytool, openssl and sqlplus, statements of SQL, directives of Redis.
	{[]string{"storepass", "keypass", "openssl", "-pass"}, lazyregexp.New(`(?:^|[\s"'])-(?:src|dest)?(?:store|key)pass(?:\s+|["']\s*,\s*)["']?[^\s"'$-]|\bopenssl\s(?:[^|;&\n]*\s)?-k\s+["']?[^\s"'$-]|` +
		`(?:^|[\s"'])--?pass(?:in|out)?(?:[\s=]+|["']\s*,\s*)["']?pass:[^\s"'$]`), nil},
	{[]string{"identified", "password"}, lazyregexp.New(`(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?["'][^"'$]|\b(?:role|user)\s[^;\n]*\bpassword\s+'[^'$]`), nil},
	{[]string{"requirepass", "masterauth"}, lazyregexp.New(`\b(?:requirepass|masterauth)["']?[\s,=]+["']?[^\s"'$%{,-]`), nil},
	// Oracle's SCOTT/PW@//DB.
	{[]string{"@//", "sqlplus", "jdbc:oracle:"}, lazyregexp.New(`(?:^|[\s:="'])[A-Za-z][\w$#]*/[^\s/@"'$]+@//[\w.-]|\bsqlplus\s+(?:-\w+\s+)*["']?[A-Za-z]\w*/[^\s/@"'$]|\bjdbc:oracle:\w+:[^\s/@:]+/[^\s/@"'$]+@`), nil},
	// Hashes of passwords, which can be guessed: bcrypt, crypt of Unix and of Apache, Argon2, yescrypt, those of LDAP, Django and PostgreSQL.
	{[]string{"$"}, lazyregexp.New(`\$2[abxy]?\$[0-9]{2}\$[./A-Za-z0-9]{20}|\$(?:1|5|6|apr1)\$(?:rounds=[0-9]+\$)?[./A-Za-z0-9]{0,16}\$[./A-Za-z0-9]{20}|\$argon2(?:id|i|d)\$|\$y\$[./A-Za-z0-9]+\$|` +
		`\bpbkdf2_sha[0-9]+\$[0-9]+\$|\bSCRAM-SHA-(?:1|256)\$[0-9]+:`), nil},
	{[]string{"sha}", "ssha", "{crypt}"}, lazyregexp.New(`(?i)\{(?:s?sha(?:224|256|384|512)?|crypt)\}[A-Za-z0-9+/=$.]{20}`), nil},
	// Tokens of Composer, by host.
	{[]string{"oauth", "gitlab-token", "bearer"}, lazyregexp.New(`\b(?:git(?:hub|lab)-(?:oauth|token)|bearer)["']?\s*:\s*\{\s*["']?[\w-]+\.[\w.-]+["']?\s*:\s*["']?[^\s"'$}]`), nil},
	// Passwords behind an anchor of YAML, in a list, and in a field of their own.
	{[]string{"&"}, lazyregexp.New(`:\s+&[\w-]+\s+["']?[^\s"'{\[|>$&*]`), lazyregexp.New(`(?:` + named + `)["']?\s*$`)},
	{[]string{"words"}, lazyregexp.New(`words["']?\s*` + listed), lazyregexp.New(`pass$`)},
	{[]string{"tokens", "keys", "passwds", "passphrases"}, lazyregexp.New(`s["']?\s*` + listed), lazyregexp.New(`(?:passwd|passphrase|(?:access|auth|api|bearer|refresh|deploy)[-_]?token|api[-_]?key)$`)},
	{[]string{"tokens"}, lazyregexp.New(`tokens["']?\s*:\s*\[\s*["']?[\w.-]*[0-9]`), lazyregexp.New(`(?:^|[\s"'{,])$`)},
	{[]string{"value"}, lazyregexp.New(`value["']?\s*:\s*` + given), lazyregexp.New(`(?:` + named + `)["']?\s*:\s*(?:\{\s*|\n\s+)["']?$`)},
}

// named are the names of fields that hold a password, as they end; given is what a field is given
// that is no reference, and not null, true, false or none; listed is a list that is not empty.
const (
	named  = `passw(?:or)?d|passphrase|pwd|secret|token|credentials?|(?:api|access|account|private|signing|encryption|auth|client|shared)[-_.]?key`
	given  = `(?:["'][^\s"'$&*{]|[^\s"'$&*{\[|>,}~ntf]|[ntf][^\s"',}]*[^\s"',}el](?:[\s"',}]|$))`
	listed = `:\s*(?:\[\s*|\n\s*- +)["']?[^\s"'\]\[{$&*#|>-]`
)

package fleet

import (
	"net/url"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/redact"
)

// secretWords are the words that make the name of an environment variable a secret's.
var secretWords = []string{
	"PASS", "PAT", "PATS", "SECRET", "SECRETS", "TOKEN", "TOKENS", "TKN", "TKNS", "PWD", "PW",
	"CREDENTIAL", "CREDENTIALS", "CRED", "CREDS", "PRIVATE", "AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "COOKIES", "CERT", "PEM", "PFX", "PSK",
	"SALT", "PEPPER", "NONCE", "HMAC", "SIGNATURE", "DSN", "DSNS", "WEBHOOK", "LICENSE", "JWT", "JWTS", "SAS", "OTP", "TOTP", "PIN", "PINS", "CONNSTR",
	"HTPASSWD", "NETRC", "KEYTAB", "KEYTABS", "SEED", "MNEMONIC", "MNEMONICS", "SESSIONID", "SESSIONIDS", "OAUTH", "LICENCE",
}

// numberedWords are such words that end in a number.
var numberedWords = []string{"P12", "PKCS12"}

// secretPairs are two words, one behind the other, that do the same.
var secretPairs = []string{"CONNECTION_STRING", "CONNECTION_STRINGS", "CONN_STRING", "CONN_STR", "SESSION_ID", "SESSION_IDS", "RECOVERY_PHRASE",
	"UNLOCK_CODE", "UNLOCK_CODES", "ACCESS_CODE", "ACCESS_CODES", "RECOVERY_CODE", "RECOVERY_CODES", "BACKUP_CODE", "BACKUP_CODES",
	"SECURITY_CODE", "SECURITY_CODES", "VERIFICATION_CODE", "VERIFICATION_CODES", "ACTIVATION_CODE", "ACTIVATION_CODES"}

// secretEnds are the ends of words that do the same, one or many: SSHPASS, PGPASSWORD, GITHUBTOKENS, MASTERKEY.
var secretEnds = []string{"PASS", "PASSWD", "PASSWORD", "PASSWORT", "PASSPHRASE", "PASSCODE", "SECRET", "TOKEN", "KEY", "BASICAUTH", "SECRETKEYBASE", "PASSWORDHASH", "DSN", "WEBHOOK", "WEBHOOKURL",
	"TOKENVALUE", "SECRETVALUE", "PASSWORDVALUE", "CREDS", "CREDENTIAL", "CREDSJSON", "CREDENTIALJSON", "CREDENTIALSJSON",
	"CONNECTIONSTRING", "CONNECTIONSTRINGS", "UNLOCKCODE", "ACCESSCODE", "RECOVERYCODE", "BACKUPCODE", "SECURITYCODE", "VERIFICATIONCODE", "ACTIVATIONCODE"}

// shortEnds are those that end other words, too, where nothing but a letter is before them: ROOTPW, DBPWD.
var shortEnds = []string{"PW", "PWD"}

// noKeys are words that end in KEY and are none.
var noKeys = []string{"MONKEY", "SURVEYMONKEY", "TURKEY", "HOTKEY", "HOCKEY", "JOCKEY", "WHISKEY", "DONKEY", "LACKEY", "MICKEY", "MALARKEY", "SMOKEY", "TURNKEY"}

// plainEnds are last words of names that say something about a secret, and are none: TOKEN_TTL, AUTH_MODE, SECRET_NAME.
var plainEnds = []string{"TTL", "MODE", "ENABLED", "DISABLED", "TIMEOUT", "EXPIRY", "LENGTH", "COUNT", "TYPE", "ALGORITHM", "NAME", "NAMES", "NAMESPACE", "AUDIENCE", "SCOPE", "SCOPES", "DAYS", "HOURS", "MINUTES", "SECONDS", "REF"}

// SecretVar reports whether a variable is a secret: by its name, or by the form of its value.
func SecretVar(name, value string) bool { return SecretName(name) || secretForm(value) }

// PlainVars are the variables of an environment that are used and are no secrets, by name.
func PlainVars(env map[string]string, uses func(name string) bool) map[string]string {
	out := map[string]string{}
	for name, value := range env {
		if uses(name) && !SecretVar(name, value) {
			out[name] = value
		}
	}
	return out
}

// secretPlain reports whether a text is a secret by its form as it is.
func secretPlain(text string) bool {
	lower := redact.Lower(text)
	return secretURL(text) || redact.Authenticates(text) || dsn(text) || redact.Names(text) || misplaced.Token(text) || jwk(text) || secretPair(lower) ||
		slices.ContainsFunc(secretForms, func(f form) bool { return f.in(text, lower) })
}

// SecretName reports whether a variable's name says that its value is a secret: one of its words (parted by '_', '-'
// or '.'), or two of them, are known ones, whatever number or version stands behind them (TOKEN2, KEYV2); SESSION is one by itself alone. The shell's own PWD and
// OLDPWD are not, nor are the number of a desktop's session, a public key, and what says how long or of what kind a secret is.
func SecretName(name string) bool {
	upper := strings.ToUpper(name)
	if upper == "PWD" || upper == "OLDPWD" || upper == "XDG_SESSION_ID" {
		return false
	}
	if strings.TrimRight(upper, "0123456789") == "SESSION" {
		return true
	}
	if last := upper[strings.LastIndexAny(upper, "_-.")+1:]; last != upper && slices.Contains(plainEnds, last) {
		return false
	}
	upper = strings.NewReplacer("PUBLIC_KEY", "", "PUBLIC-KEY", "", "COMPASS", "", "BYPASS", "").Replace(upper)
	before := ""
	for _, word := range strings.FieldsFunc(upper, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if slices.Contains(numberedWords, word) {
			return true
		}
		if plain := strings.TrimRight(word, "0123456789"); plain != word && plain != "" {
			word = plain
			if secretWord(before, strings.TrimSuffix(word, "V")) {
				return true
			}
		}
		if secretWord(before, word) {
			return true
		}
		before = word
	}
	return false
}

// secretWord reports whether a word in capitals, with the one before it, says that something is a secret.
func secretWord(before, word string) bool {
	if slices.Contains(secretWords, word) || slices.Contains(secretPairs, before+"_"+word) {
		return true
	}
	one := strings.TrimSuffix(word, "S")
	ends := func(end string) bool { return strings.HasSuffix(word, end) || strings.HasSuffix(one, end) }
	return !slices.Contains(noKeys, one) && slices.ContainsFunc(secretEnds, ends) ||
		slices.ContainsFunc(shortEnds, func(end string) bool { return ends(end) && len(one) > len(end)+1 })
}

// secretURL reports whether a text is a URL with a password, or over HTTP with a user at all: that is a token.
func secretURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.User == nil || u.Host == "" {
		return false
	}
	password, _ := u.User.Password()
	return password != "" || strings.HasPrefix(u.Scheme, "http") && u.User.Username() != ""
}

// dsnForm is an address without a scheme: user:pw@tcp(db:3306)/shop, user:pw@db:5432, user:pw@db/shop.
var dsnForm = lazyregexp.New(`^([^\s:/@]*):([^\s/@]\S*)@(?:[a-z0-9+]*\([^()\s]*\)|[\w.-]+:[0-9]{1,5}(?:[/?]|$)|[\w.-]*/)`)

// noDSN are what stands before the colon of other addresses that have an @.
var noDSN = []string{"mailto", "sip", "sips", "acct", "pkg", "npm", "jdbc"}

func dsn(text string) bool {
	parts := dsnForm.FindStringSubmatch(text)
	return parts != nil && !slices.Contains(noDSN, strings.ToLower(parts[1]))
}

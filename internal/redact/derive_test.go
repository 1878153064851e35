package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestDerivations: what ordinary templates take out of a value is hidden as well.
func TestDerivations(t *testing.T) {
	auth := base64.StdEncoding.EncodeToString([]byte("robot:c4nary-pass"))
	for name, c := range map[string]struct{ secret, said string }{
		"decoded":          {base64.StdEncoding.EncodeToString([]byte("c4nary-pass")), "is c4nary-pass"},
		"decoded twice":    {base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("c4nary-pass")))), "is c4nary-pass"},
		"without a scheme": {"root:c4nary-pass@tcp(db:3306)/app", "password c4nary-pass"},
		"lines":            {"HOST=db\nexport PASSWORD=\"c4nary-pass\"\n", "PASSWORD is c4nary-pass"},
		"a list":           {"c4nary-one,c4nary-two", "c4nary-two is wrong"},
		"docker":           {`{"auths":{"r.example":{"auth":"` + auth + `"}}}`, "password c4nary-pass"},
		"docker's auth":    {auth, "password c4nary-pass"},
		"docker encoded":   {base64.StdEncoding.EncodeToString([]byte(`{"auths":{"r":{"password":"c4nary-pass"}}}`)), "password c4nary-pass"},
	} {
		if got := New(c.secret).Value("", c.said); strings.Contains(got, "c4nary") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, value := range []string{"true", "password", "a,b,c", "plainword", "db-main"} {
		if got := New(value).Value("", "host db, port 3306, image nginx:1.2"); got != "host db, port 3306, image nginx:1.2" {
			t.Errorf("%s hides %s", value, got)
		}
	}
}

// TestPiecesOfConfigurations: whatever way a configuration holds a password, what a template cuts out of it is hidden, in documents in
// documents, in base64 and with escapes; what is common beside it stays.
func TestPiecesOfConfigurations(t *testing.T) {
	const pw = "Zq3CANARYx9"
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	auth := b64("robot:" + pw)
	for _, secret := range []string{
		"host=db user=app password=" + pw + " dbname=shop", "Server=db;User Id=sa;Password=" + pw + ";Encrypt=true",
		"jdbc:postgresql://db/shop?user=app&password=" + pw + "&ssl=true", "r:6379,password=" + pw + ",ssl=True",
		`x.ScramLoginModule required username="app" password="` + pw + `";`, "[default]\nid = x\nkey = " + pw + "\n", "A=b\nPASSWORD=" + pw + " # prod\n",
		`password="` + pw + `" user="x"`, `<user name="a" password="` + pw + `"/>`, "machine git.example login app password " + pw,
		"admin:" + pw, "cn=admin,dc=x:" + pw, "db:5432:shop:app:" + pw, "scott/" + pw + "@//db:1521/x", "-u admin:" + pw, "kid1:" + pw + ":hmac",
		"team-a=" + pw + ",team-b=Zr2CANARYy8", "alice:" + pw + ",bob:Zr4CANARYy8", pw + ";Zr6CANARYy8", pw + " Zr8CANARYy8", pw + "|Zr8CANARYy8", "id." + pw + ".sig",
		"Bearer " + pw, "Basic " + auth, auth, b64("[x]\npassword = " + pw + "\n"), b64(`{"auths": {"r.example": {"auth": "` + auth + `"}}}`),
		`{"auths": {"r.example": {"auth": "` + auth + `"}}}`, `{"dsn": "host=db password=` + pw + ` user=x"}`, `{"creds": "{\"pw\": \"` + pw + `\"}"}`,
		"users: [{name: a, pw: " + pw + "}]\n", "a.b.password: " + pw + "\nother: 1\n", b64(b64("u:" + pw)), "ENV='{\"pw\":\"" + pw + "\"}'\n",
		"amqp://app:" + pw + "@mq1:5672,amqp://app:Zs1CANARYy8@mq2:5672", "data:application/json;base64," + b64(`{"pw":"`+pw+`"}`),
	} {
		r := &Redactor{}
		r.AddFor("web", secret)
		for _, of := range []string{"web", "other"} {
			if got := r.Value(of, "is "+pw); strings.Contains(got, "CANARY") {
				t.Errorf("%q: %s says %s", secret, of, got)
			}
		}
		const common = "host db, user app, port 5432, name shop, ssl true, image nginx:1.25.3, required password, prod r.example"
		if got := r.Value("other", common); got != common {
			t.Errorf("%q makes %s", secret, got)
		}
	}
	for secret, piece := range map[string]string{"root:Zq2@CAN/ARYx9@tcp(db:3306)/shop": "Zq2@CAN/ARYx9", "user:p=w:d@9xQ2z@h": "p=w:d@9xQ2z",
		"admin:$apr1$Zu4CANRY$x9abcdefghij": "$apr1$Zu4CANRY$x9abcdefghij", "u: Zs5CANARY/x9": "Zs5CANARY/x9"} {
		if got := New(secret).Redact("(" + piece + ")"); got != "("+Mask+")" {
			t.Errorf("%q: %s", secret, got)
		}
	}
}

// TestEscapes: a secret is hidden with what languages write for its characters.
func TestEscapes(t *testing.T) {
	for secret, texts := range map[string][]string{
		"Zt5$CANARY$x9":   {"Zt5$$CANARY$$x9", `Zt5\$CANARY\$x9`, "Zt5%24CANARY%24x9", `Zt5\u0024CANARY\x24x9`},
		"Zt6=CANARY'x9==": {`Zt6\u003DCANARY\'x9\u003D\u003D`, `Zt6=CANARY'\''x9==`, `Zt6=CANARY'"'"'x9==`},
		"amqp://app:Zv8%40CAN!ARY%20x9@mq1:5672/": {"app:Zv8%40CAN%21ARY%20x9", "Zv8@CAN!ARY x9", "Zv8%40CAN!ARY%20x9"},
		`Zt7"CAN\ARYx9`: {`Zt7\"CAN\\ARYx9`},
		"Zü9äCANARY":    {"Z%C3%BC9%C3%A4CANARY", `Z\u00fc9\u00e4CANARY`},
	} {
		for _, text := range texts {
			if got := New(secret).Redact("x " + text + " y"); strings.Contains(got, "CAN") || strings.Contains(got, "ARY") || !strings.HasPrefix(got, "x ") || !strings.HasSuffix(got, " y") {
				t.Errorf("%q as %q: %s", secret, text, got)
			}
		}
	}
	for _, text := range []string{"", "plain", `\u00`, `\`, "%", "%zz", "100%", "$", "'", `a\u12g4`} {
		if plain, at := unescape(text); plain != text || at != nil {
			t.Errorf("%q became %q", text, plain)
		}
	}
}

// TestRedactionIsLinear: many configurations are secret, and a text ten times as long takes no more than some ten times as long;
// taking a hostile value apart ends.
func TestRedactionIsLinear(t *testing.T) {
	r := &Redactor{}
	for i := range 200 {
		r.Add(fmt.Sprintf("host=db-%d user=app password=Zq%dCANARYx9 dbname=shop", i, i))
	}
	text := strings.Repeat(`image: nginx:1.25 "path": "C:\\x\u0041" 100%25 $$ nothing of interest. `, 2000)
	r.Redact(text)
	took := func(n int) time.Duration {
		best := time.Hour
		for range 3 {
			start := time.Now()
			r.Redact(strings.Repeat(text, n))
			best = min(best, time.Since(start))
		}
		return best
	}
	one, ten := took(1), took(10)
	for tries := 1; ten > 40*one && tries < 5; tries++ { // the machine is shared
		one, ten = took(1), took(10)
	}
	if ten > 40*one {
		t.Errorf("once takes %s, ten times %s", one, ten)
	}
	size := 50_000
	if testing.Short() { // the race detector takes its time, and nothing happens at once in it
		size = 2_000
	}
	start := time.Now()
	for _, hostile := range []string{strings.Repeat("a=b:c@d,", size), strings.Repeat("Zq3x9CANARY=", size), strings.Repeat("{\"a\":", size/10), strings.Repeat("YWFh", 2*size)} {
		New(hostile).Redact("x")
	}
	if d := time.Since(start); d > 5*time.Minute {
		t.Errorf("hostile values take %s", d)
	}
}

// passwordOf makes a password of bytes: 10 to 40 characters that stand for nothing else, as they are told apart in configurations of every kind.
func passwordOf(data []byte) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!~*+^"
	out := []byte("Zq3")
	for _, b := range data[:min(len(data), 30)] {
		out = append(out, letters[int(b)%len(letters)])
	}
	return string(append(out, "x9CANRY"...))
}

// configurations are values in which ordinary charts find a password (docs/secrets.md): of an address with and without a scheme, of KEY=value lines, of a
// list with commas, of Docker's configuration, and any of these in base64.
func configurations(pw, user, host string) map[string]string {
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	docker, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]any{"username": user, "password": pw, "auth": b64(user + ":" + pw)}}})
	if err != nil {
		panic(err)
	}
	out := map[string]string{
		"itself": pw, "an address": "postgres://" + user + ":" + url.PathEscape(pw) + "@" + host + ":5432/app", "an address without a scheme": user + ":" + pw + "@tcp(" + host + ":3306)/app",
		"a host's address": user + ":" + pw + "@" + host + ":6379", "lines": "HOST=" + host + "\nPASSWORD=" + pw + "\nUSER=" + user, "lines of a shell": "# of " + user + "\r\nexport PASSWORD=\"" + pw + "\"\r\nA=b\r\n",
		"quoted lines": "A='b'\nPASSWORD='" + pw + "'\n", "a list": pw + "," + user, "a list with blanks": user + ", " + pw + ", " + host, "a list of two": pw + "," + strings.ToUpper(pw),
		"Docker's configuration": string(docker), "Docker's auth": b64(user + ":" + pw), "Docker's auth alone": `{"auths": {"` + host + `": {"auth": "` + b64(user+":"+pw) + `"}}}`,
	}
	for name, text := range maps.Clone(out) {
		out[name+" in base64"], out[name+" in base64 of URLs"] = b64(text), base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	out["itself in base64 twice"] = b64(b64(pw))
	return out
}

// FuzzDerived: whatever password a secret holds, in whatever configuration, a text with the password taken out of it, as it is, quoted, percent-encoded or
// in base64, does not show it; what is common stays; and taking anything whatever apart never fails, and gives nothing that is short.
func FuzzDerived(f *testing.F) {
	f.Add("host=db password=Zq3CANARYx9", []byte("a"), uint8(0), uint8(0))
	f.Add("Basic YWRtaW46WnM0Q0FOQVJZeDk=", []byte("\x3e\x3f\x40\x41\x42\x43\x44\x45"), uint8(3), uint8(1))
	f.Add("", []byte("......---___!!!"), uint8(7), uint8(2))
	for i := range 10 * len(configurations("", "", "")) {
		f.Add(strings.Repeat("=", i), bytes.Repeat([]byte{byte(i), byte(i * 7), byte(255 - i)}, i%11), uint8(i*5), uint8(i))
	}
	f.Fuzz(func(t *testing.T, value string, made []byte, names, kind uint8) {
		if len(value) > 4<<10 {
			return
		}
		for _, piece := range derivedFrom(value) {
			if len(piece) < shortest {
				t.Errorf("%q gives %q", value, piece)
			}
		}
		pw, user, host := passwordOf(made), []string{"root", "app", "robot", "db-user"}[names%4], []string{"db", "r.example", "mq-1.shop.svc", "10.0.0.1"}[names/4%4]
		quoted, err := json.Marshal(pw)
		if err != nil {
			t.Fatal(err)
		}
		all := configurations(pw, user, host)
		name := slices.Sorted(maps.Keys(all))[int(kind)%len(all)]
		secret := all[name]
		r := New(secret)
		for _, form := range []string{pw, string(quoted), strconv.Quote(pw), url.QueryEscape(pw), url.PathEscape(pw), base64.StdEncoding.EncodeToString([]byte(pw)), base64.StdEncoding.EncodeToString([]byte("x:" + pw)), hex.EncodeToString([]byte(pw))} {
			if got := r.Redact("the password is " + form + " which is wrong"); strings.Contains(got, form) || !strings.HasPrefix(got, "the password is ") || !strings.HasSuffix(got, " which is wrong") {
				t.Errorf("%s (%q): %q is shown: %s", name, secret, form, got)
			}
		}
		if got := r.Redact("user " + user + " of " + host + " is wrong"); got != "user "+user+" of "+host+" is wrong" {
			t.Errorf("%s (%q) hides what is common: %s", name, secret, got)
		}
	})
}

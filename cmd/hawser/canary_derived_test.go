package main

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestCanariesDerived: a password that a chart takes out of a configuration which a store holds (an address, lines, a connection
// string, a document, base64) is shown by nothing that plans, applies or builds with a mask; it is delivered.
func TestCanariesDerived(t *testing.T) {
	t.Parallel()
	const odd, word = "c4nary-env:1/x=9", "correcthorse"
	s := newScene(t)
	s.files(`
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters: {staging: {kubeContext: staging}}
  secretStores: {default: {env: {prefix: APP_}}}
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    chart:
      helm: {chart: ./chart}
      namespace: $NS
      values: {dsn: "ref://DSN", ado: "ref://ADO", lines: "ref://LINES", json: "ref://JSON_TEXT", netrc: "ref://NETRC", pgpass: "ref://PGPASS", docker: "ref://DOCKER", query: "ref://QUERY"}
-- chart/Chart.yaml --
apiVersion: v2
name: chart
version: 1.0.0
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: derived}
data:
  dsn: {{ .Values.dsn | trimPrefix "root:" | trimSuffix "@tcp(db:3306)/app" | quote }}
  ado: {{ .Values.ado | trimPrefix "Server=db;Password=" | trimSuffix ";Encrypt=true" | quote }}
  lines: {{ .Values.lines | splitList "PASSWORD=" | last | trim | quote }}
  json: {{ (.Values.json | fromJson).db.password | quote }}
  netrc: {{ .Values.netrc | splitList " " | last | quote }}
  pgpass: {{ .Values.pgpass | trimPrefix "db:5432:shop:app:" | quote }}
  docker: {{ (((.Values.docker | fromJson).auths.r).auth | b64dec) | trimPrefix "robot:" | quote }}
  query: {{ .Values.query | trimPrefix "user=x&password=" | quote }}
  config: {{ printf "server {\n  password = %q\n}\n" (.Values.netrc | splitList " " | last) | quote }}
`)
	for i, pw := range []string{odd, word} {
		s.env = append(s.env, "APP_DSN=root:"+pw+"@tcp(db:3306)/app", "APP_ADO=Server=db;Password="+pw+";Encrypt=true", "APP_LINES=HOST=db\nPASSWORD="+pw+"\n",
			`APP_JSON_TEXT={"db": {"password": "`+pw+`"}}`, "APP_NETRC=machine git.example login app password "+pw, "APP_PGPASS=db:5432:shop:app:"+pw,
			`APP_DOCKER={"auths": {"r": {"auth": "`+base64.StdEncoding.EncodeToString([]byte("robot:"+pw))+`"}}}`, "APP_QUERY=user=x&password="+pw)
		for _, args := range [][]string{{"plan", "--full"}, {"plan", "-o", "json"}, {"diff"}, {"build", "--mask-secrets"}, {"plan", "--out", "p.plan"},
			{"apply", "-y", "--diff", "--wait=false"}, {"plan", "--full", "-v"}} {
			r := s.run(append(args, "-f", "shop.yaml", "--fleet", "fleet.yaml")...)
			if r.Code > 1 || args[0] != "diff" && r.Code != 0 {
				t.Fatalf("%s: %s", args, r)
			}
			out := r.Stdout + r.Stderr
			if args[len(args)-1] == "p.plan" {
				out += unpacked([]byte(s.read("p.plan")))
			}
			if i == 0 {
				silent(t, strings.Join(args, " "), out)
			}
			s.lacks(out, pw, odd, word)
		}
		for _, key := range []string{"dsn", "ado", "lines", "json", "netrc", "pgpass", "docker", "query"} {
			s.wantData("staging", "derived", key, pw)
		}
	}
}

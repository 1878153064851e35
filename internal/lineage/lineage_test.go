package lineage

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

const (
	repoA = "github.com/acme/team-a"
	repoB = "github.com/acme/team-b"
)

// TestCompare: which runs may go on with a release, and which have to take it over.
func TestCompare(t *testing.T) {
	there := func(Record) bool { return true }
	git := Source{Repository: repoA, Path: "deploy"}
	local, disk := Source{Path: "/home/a/shop"}, Source{Repository: "/srv/git/shop", Path: "deploy"}
	rec := func(id string, s Source, fleet string) Record {
		return Record{Bundle: "shop", ID: id, Source: s, Fleet: fleet}
	}
	for _, tt := range []struct {
		name string
		rec  Record
		run  Run
		want Relation
	}{
		{"the same directory again", rec("1", local, ""), Run{ID: "1", Source: local, Dir: local.Path}, Same},
		{"the lock file is thrown away", rec("1", local, ""), Run{Source: local, Dir: local.Path}, Same},
		{"CI checks the repository out elsewhere", rec("1", git, ""), Run{Source: git, Dir: "/builds/77/deploy"}, Same},
		{"two people, one without the lock file", rec("1", git, ""), Run{ID: "2", Source: git, Dir: "/home/b/deploy"}, Same},
		{"a repository came since", rec("1", local, ""), Run{Source: git, Dir: local.Path}, Same},
		{"the repository's name in other letters", rec("1", git, ""), Run{Source: Source{"GitHub.com/Acme/team-a", "deploy"}}, Same},
		{"a directory was renamed with its lock file", rec("1", git, ""), Run{ID: "1", Source: Source{repoA, "shop"}}, Moved},
		{"a directory was copied with its lock file", rec("1", git, ""), Run{ID: "1", Source: Source{repoA, "shop"}, StillThere: there}, OtherSource},
		{"a directory was moved without its lock file", rec("1", git, ""), Run{Source: Source{repoA, "shop"}}, OtherSource},
		{"a directory without repository was moved", rec("1", local, ""), Run{ID: "1", Source: Source{Path: "/srv/shop"}}, Moved},
		{"a directory without repository was copied", rec("1", local, ""), Run{ID: "1", Source: Source{Path: "/srv/shop"}, StillThere: there}, OtherSource},
		{"an archive of the repository with its lock file", rec("1", git, ""), Run{ID: "1", Source: Source{Path: "/tmp/x"}}, Moved},
		{"an archive of the repository without", rec("1", git, ""), Run{Source: Source{Path: "/tmp/x"}}, OtherSource},
		{"another team, another repository", rec("1", git, ""), Run{ID: "2", Source: Source{repoB, "deploy"}}, OtherSource},
		{"another address, a copy with the lock file or the same one", rec("1", git, ""), Run{ID: "1", Source: Source{repoB, "deploy"}}, OtherSource},
		{"another address, and the lock file is thrown away", rec("1", git, ""), Run{Source: Source{repoB, "deploy"}}, OtherSource},
		{"a fork that names what it was made of", rec("1", git, ""), Run{ID: "1", Source: Source{repoB, "deploy"}, StillThere: there}, OtherSource},
		{"a clone of a repository on this machine", rec("1", disk, ""), Run{Source: disk}, Same},
		{"the same path in another container", rec("1", disk, ""), Run{ID: "2", Source: disk}, OtherSource},
		{"another repository on this machine", rec("1", disk, ""), Run{Source: Source{"/srv/git/b", "deploy"}}, OtherSource},
		{"a repository on this machine was moved", rec("1", disk, ""), Run{ID: "1", Source: Source{"/srv/git/b", "deploy"}}, Moved},
		{"a relative remote of an earlier version", rec("1", Source{"../shop", "deploy"}, ""), Run{Source: disk}, Same},
		{"a relative remote of an earlier version, another lineage", rec("1", Source{"../shop", "deploy"}, ""), Run{ID: "2", Source: disk}, OtherSource},
		{"a relative remote of an earlier version, a host now", rec("1", Source{"../shop", "deploy"}, ""), Run{Source: git}, OtherSource},
		{"another team in the same repository", rec("1", git, ""), Run{ID: "2", Source: Source{repoA, "b"}}, OtherSource},
		{"another team, no lock, the same repository", rec("1", git, ""), Run{Source: Source{repoA, "b"}}, OtherSource},
		{"containers with one path and other lineages", rec("1", local, ""), Run{ID: "2", Source: local, Dir: local.Path}, OtherSource},
		{"standard input again", rec("1", Source{Path: Stdin}, ""), Run{Source: Source{Path: Stdin}}, Same},
		{"standard input in the same directory", rec("1", Source{Path: Piped("/w")}, ""), Run{Source: Source{Path: Piped("/w")}}, Same},
		{"standard input in another directory", rec("1", Source{Path: Piped("/w")}, ""), Run{Source: Source{Path: Piped("/v")}}, OtherSource},
		{"standard input in another clone", rec("1", Source{repoA, Piped("deploy")}, ""), Run{Source: Source{repoA, Piped("deploy")}}, Same},
		{"standard input in another directory of the repository", rec("1", Source{repoA, Piped("deploy")}, ""), Run{Source: Source{repoA, Piped("b")}}, OtherSource},
		{"standard input of an earlier version", rec("1", Source{Path: Stdin}, ""), Run{Source: Source{Path: Piped("/w")}}, Same},
		{"standard input in a repository, of an earlier version", rec("1", Source{repoA, Stdin}, ""), Run{Source: Source{repoA, Piped("deploy")}}, Same},
		{"standard input, and files of the same directory", rec("1", Source{Path: Piped("/w")}, ""), Run{Source: Source{Path: "/w"}, Dir: "/w"}, OtherSource},
		{"standard input over files", rec("1", git, ""), Run{Source: Source{Path: Stdin}}, OtherSource},
		{"files over standard input", rec("1", Source{Path: Stdin}, ""), Run{Source: git}, OtherSource},
		{"no files, from anywhere", rec("1", git, ""), Run{}, Same},
		{"no files, where hawser.lock has it", rec("1", git, ""), Run{Here: &Run{ID: "1", Source: Source{repoA, "shop"}, StillThere: there}}, Same},
		{"no files, where hawser.lock has another of that name", rec("1", git, ""), Run{Here: &Run{ID: "2", Source: Source{repoA, "b"}}}, OtherSource},
		{"no files, in another directory of that name", rec("1", local, ""), Run{Here: &Run{ID: "2", Source: Source{Path: "/home/b/shop"}}}, OtherSource},
		{"no files, in the same place without the lock file once", rec("1", git, ""), Run{Here: &Run{ID: "2", Source: git}}, Same},
		{"an old record", rec("", Source{}, ""), Run{ID: "2", Source: git}, Same},
		{"an old record of a fleet, the fleet", rec("", Source{}, "prod"), Run{Source: git, Fleet: "prod"}, Same},
		{"an old record of a fleet, none", rec("", Source{}, "prod"), Run{Source: git}, NoFleet},
		{"a fleet's release, no fleet, the same directory", rec("1", git, "prod"), Run{ID: "1", Source: git}, NoFleet},
		{"a fleet came since", rec("1", git, ""), Run{ID: "1", Source: git, Fleet: "prod"}, Same},
		{"a fleet came, from another place", rec("1", git, ""), Run{Source: Source{repoB, "deploy"}, Fleet: "prod"}, OtherSource},
		{"a renamed fleet", rec("1", git, "prod"), Run{ID: "1", Source: git, Fleet: "production"}, OtherFleet},
		{"a delete that names the bundle", rec("1", git, "prod"), Run{Fleet: "prod"}, Same},
		{"a delete that names the bundle, no fleet", rec("1", git, "prod"), Run{}, NoFleet},
	} {
		if got := Compare(tt.rec, tt.run); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if !tt.want.Refused() {
			continue
		}
		f := Refusal(tt.rec, tt.run, tt.want, false)
		if f.Severity != diag.Error || !strings.Contains(f.Fix, "--take-over") || strings.Contains(f.Fix, "--adopt") {
			t.Errorf("%s: %s", tt.name, f)
		}
		if f := Refusal(tt.rec, tt.run, tt.want, true); f.Severity != diag.Warning || f.Code != CodeTakenOver {
			t.Errorf("%s, taken over: %s", tt.name, f)
		}
	}
}

// Both are named, with who applied it.
func TestRefusalNamesBoth(t *testing.T) {
	rec := Record{Bundle: "shop", ID: "1", Source: Source{repoA, "deploy"}, Revision: 3, Author: "ada@desk"}
	run := Run{Source: Source{repoB, "."}}
	text := Refusal(rec, run, OtherSource, false).String()
	for _, want := range []string{"bundle shop", repoA + ", directory deploy", repoB + ", its root", "revision 3 by ada@desk"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	same := Source{Path: "/work"}
	text = Refusal(Record{Bundle: "shop", ID: "0123456789", Source: same}, Run{ID: "abcdefghijk", Source: same}, OtherSource, false).String()
	for _, want := range []string{"another lineage", "01234567", "abcdefgh"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

// TestJudge: a refusal says whether the lineage fits, which is what can be checked; who goes on in another repository is told.
func TestJudge(t *testing.T) {
	rec := Record{Bundle: "shop", ID: "0123456789", Source: Source{repoA, "deploy"}, Revision: 3}
	onDisk := rec
	onDisk.Source = Source{"/srv/git/a", "deploy"}
	if rel, fs := Judge(onDisk, Run{ID: rec.ID, Source: Source{"/srv/git/b", "deploy"}}, false); rel != Moved || len(fs) != 1 || fs[0].Code != CodeMoved || !strings.Contains(fs[0].String(), "it goes on") {
		t.Errorf("a repository of this machine was moved: %v %v", rel, fs)
	}
	for _, tt := range []struct {
		run  Run
		rel  Relation
		code string
		says []string
	}{
		{Run{Source: Source{repoB, "deploy"}}, OtherSource, CodeSource, []string{"does not know the bundle"}},
		{Run{ID: "abcdefghijk", Source: Source{repoB, "deploy"}}, OtherSource, CodeSource, []string{"another lineage: abcdefgh, not 01234567"}},
		{Run{ID: rec.ID, Source: Source{repoA, "b"}, StillThere: func(Record) bool { return true }}, OtherSource, CodeSource, []string{"this is a copy"}},
		{Run{ID: rec.ID, Source: Source{repoB, "deploy"}}, OtherSource, CodeSource, []string{repoA, repoB, "has the release's lineage: the repository has another address now", "--take-over"}},
		{Run{Here: &Run{ID: "abcdefghijk", Source: Source{Path: "/home/b/shop"}}}, OtherSource, CodeSource, []string{"names no files, and the hawser.lock of directory /home/b/shop is of another bundle of that name",
			"another lineage: abcdefgh, not 01234567", "run it where that one's files are (delete takes them, too: -f)", "--take-over"}},
		{Run{ID: rec.ID, Source: Source{repoA, "b"}}, Moved, "", nil},
		{Run{ID: rec.ID, Source: rec.Source}, Same, "", nil},
	} {
		rel, fs := Judge(rec, tt.run, false)
		if rel != tt.rel || (len(fs) > 0) != (tt.code != "") || fs.HasErrors() != rel.Refused() {
			t.Errorf("%+v: %v %v", tt.run, rel, fs)
		}
		for _, f := range fs {
			for _, want := range tt.says {
				if f.Code != tt.code || !strings.Contains(f.String(), want) {
					t.Errorf("%q is not in %s", want, f)
				}
			}
		}
	}
}

// TestNext: whoever had a release that is taken over is refused from then on; otherwise its lineage stays.
func TestNext(t *testing.T) {
	git, other := Source{repoA, "deploy"}, Source{Path: "/tmp/x"}
	old := Record{ID: "1", Source: git}
	for _, tt := range []struct {
		name   string
		rec    *Record
		run    Run
		rel    Relation
		id     string
		source Source
	}{
		{"a first apply", nil, Run{Source: git}, Same, "fresh", git},
		{"a first apply with a lock file", nil, Run{ID: "7", Source: git}, Same, "7", git},
		{"again", &old, Run{ID: "2", Source: git}, Same, "1", git},
		{"an old record learns", &Record{}, Run{Source: git}, Same, "fresh", git},
		{"moved", &old, Run{ID: "1", Source: Source{repoA, "b"}}, Moved, "1", Source{repoA, "b"}},
		{"from an archive", &old, Run{ID: "1", Source: other}, Moved, "1", git},
		{"taken over", &old, Run{ID: "2", Source: other}, OtherSource, "2", other},
		{"taken over without a lock file", &old, Run{Source: other}, OtherSource, "fresh", other},
		{"taken over with a copied lock file", &old, Run{ID: "1", Source: other}, OtherSource, "fresh", other},
		{"a renamed fleet", &old, Run{ID: "1", Source: git}, OtherFleet, "1", git},
		{"no lock file, and the others have another", &Record{ID: "1", Source: other}, Run{Source: other}, Same, "fresh", other},
		{"the lock file's is another", &Record{ID: "1", Source: other}, Run{ID: "1", Source: other}, Same, "1", other},
		{"a delete by name", &old, Run{}, Same, "1", git},
		{"taken over by name", &old, Run{Here: &Run{ID: "2", Source: other}}, OtherSource, "1", git},
	} {
		id, source := Next(tt.rec, tt.run, tt.rel, "fresh")
		if id != tt.id || source != tt.source {
			t.Errorf("%s: %s %+v, want %s %+v", tt.name, id, source, tt.id, tt.source)
		}
	}
}

// A repository is the same however it is cloned; credentials are no part of it.
func TestRepository(t *testing.T) {
	for in, want := range map[string]string{
		"https://github.com/acme/shop.git":                         "github.com/acme/shop",
		"https://ci:t0ken@GitHub.com/acme/shop":                    "github.com/acme/shop",
		"git@github.com:acme/shop.git":                             "github.com/acme/shop",
		"ssh://git@github.com:22/acme/shop.git/":                   "github.com/acme/shop",
		"ssh://git@ssh.github.com:443/acme/shop.git":               "github.com/acme/shop",
		"https://git.example.com:8443/a/b/c.git":                   "git.example.com/a/b/c",
		"ssh://git@git.example.com:2222/a/b/c.git":                 "git.example.com/a/b/c",
		"https://dev.azure.com/org/proj/_git/repo":                 "dev.azure.com/org/proj/repo",
		"git@ssh.dev.azure.com:v3/org/proj/repo":                   "dev.azure.com/org/proj/repo",
		"https://bitbucket.example.com/scm/prj/repo.git":           "bitbucket.example.com/prj/repo",
		"ssh://git@bitbucket.example.com:7999/prj/repo.git":        "bitbucket.example.com/prj/repo",
		"/srv/git/shop.git":                                        "/srv/git/shop",
		"file:///srv/git/shop.git":                                 "/srv/git/shop",
		"../shop":                                                  "../shop",
		`C:\git\shop`:                                              "",
		"":                                                         "",
		"https://user:pass@example.com/a?access_token=secret#part": "example.com/a",
	} {
		if got := Repository(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestFilesOf: a run without files leaves those that the record names.
func TestFilesOf(t *testing.T) {
	rec := &Record{Files: []string{"shop.yaml"}}
	for want, got := range map[string][]string{"shop.yaml": FilesOf(rec, Run{}), "new.yaml": FilesOf(rec, Run{Source: Source{Path: "/x"}, Files: []string{"new.yaml"}}), "": FilesOf(nil, Run{}),
		"new.yaml shop.yaml": FilesOf(&Record{Files: []string{"shop.yaml"}, Lent: true}, Run{Source: Source{Path: "/x"}, Files: []string{"new.yaml"}})} {
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

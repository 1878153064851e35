// Package author says who acts: a name and where it acts from, for the records of releases and for locks, which other
// people read. Of is a function of what it is given; Here asks the process.
//
// author must not know what a record is, and never fails: somebody always acts.
package author

import (
	"net/url"
	"os"
	"os/user"
	"strings"
	"unicode"
)

// Variable names the author as it is, whatever else is known.
const Variable = "HAWSER_AUTHOR"

// maxText is how many characters each part may have.
const maxText = 200

// service is a system of continuous integration, known by a variable that it sets.
type service struct {
	name, sign string
	// who, job and link are variables with the user who began the run, the job's name and its address, the best one first.
	who, job, link []string
	// address makes the link of several variables where none has it; nil where one has.
	address func(env func(string) string) string
}

// services are those whose variables are known. Forgejo and Gitea set GitHub's.
var services = []service{
	{"GitHub Actions", "GITHUB_ACTIONS", []string{"GITHUB_TRIGGERING_ACTOR", "GITHUB_ACTOR"}, []string{"GITHUB_JOB"}, nil, github},
	{"GitLab CI", "GITLAB_CI", []string{"GITLAB_USER_LOGIN", "GITLAB_USER_NAME"}, []string{"CI_JOB_NAME"}, []string{"CI_JOB_URL", "CI_PIPELINE_URL"}, nil},
	{"Jenkins", "JENKINS_URL", []string{"BUILD_USER_ID", "CHANGE_AUTHOR"}, []string{"JOB_NAME"}, []string{"BUILD_URL"}, nil},
	{"CircleCI", "CIRCLECI", []string{"CIRCLE_USERNAME"}, []string{"CIRCLE_JOB"}, []string{"CIRCLE_BUILD_URL"}, nil},
	{"Buildkite", "BUILDKITE", []string{"BUILDKITE_BUILD_CREATOR"}, []string{"BUILDKITE_LABEL", "BUILDKITE_PIPELINE_SLUG"}, []string{"BUILDKITE_BUILD_URL"}, nil},
	{"Azure Pipelines", "TF_BUILD", []string{"BUILD_REQUESTEDFOR"}, []string{"SYSTEM_JOBDISPLAYNAME", "AGENT_JOBNAME"}, nil, azure},
	{"Woodpecker", "CI_PIPELINE_FORGE_URL", []string{"CI_PIPELINE_AUTHOR", "CI_COMMIT_AUTHOR"}, []string{"CI_WORKFLOW_NAME"}, []string{"CI_PIPELINE_URL"}, nil},
	{"Drone", "DRONE", []string{"DRONE_BUILD_TRIGGER", "DRONE_COMMIT_AUTHOR"}, []string{"DRONE_STEP_NAME"}, []string{"DRONE_BUILD_LINK"}, nil},
}

// Here is the author of this process, whose environment is env.
func Here(env func(string) string) string {
	account := ""
	if u, err := user.Current(); err == nil {
		account = u.Username
	}
	host, _ := os.Hostname() // "" where it has none
	return Of(env, account, host)
}

// Acting is the author of a run that acts as somebody else in the clusters (impersonation): that name, and who started it; who
// itself where as is "".
func Acting(as, who string) string {
	if as = plain(as); as == "" {
		return who
	}
	return as + " (as started by " + who + ")"
}

// Of is the author: HAWSER_AUTHOR as it is; else who@host, and in a CI job which one and where it is. Who began the job
// says more than the account that it runs as. account is that of the process, "" where it has no name.
func Of(env func(string) string, account, host string) string {
	if a := plain(env(Variable)); a != "" {
		return a
	}
	who, job := "", ""
	for _, s := range services {
		if env(s.sign) == "" {
			continue
		}
		who, job = first(env, s.who), s.name
		if name := first(env, s.job); name != "" {
			job += " job " + name
		}
		if link := s.at(env); link != "" {
			job += ", " + link
		}
		break
	}
	if who == "" {
		who = first(env, []string{"USER", "LOGNAME", "USERNAME"})
	}
	if who == "" {
		who = plain(account)
	}
	if who == "" {
		who = "unknown"
	}
	if host = plain(host); host != "" {
		who += "@" + host
	}
	if job != "" {
		who += " (" + job + ")"
	}
	return who
}

// at is the job's address without credentials, "" where it is not known.
func (s service) at(env func(string) string) string {
	link := first(env, s.link)
	if link == "" && s.address != nil {
		link = s.address(env)
	}
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	u.User = nil
	return plain(u.String())
}

func github(env func(string) string) string {
	server, repository, run := env("GITHUB_SERVER_URL"), env("GITHUB_REPOSITORY"), env("GITHUB_RUN_ID")
	if server == "" || repository == "" || run == "" {
		return ""
	}
	return server + "/" + repository + "/actions/runs/" + run
}

func azure(env func(string) string) string {
	server, project, build := env("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"), env("SYSTEM_TEAMPROJECT"), env("BUILD_BUILDID")
	if server == "" || project == "" || build == "" {
		return ""
	}
	return strings.TrimSuffix(server, "/") + "/" + url.PathEscape(project) + "/_build/results?buildId=" + url.QueryEscape(build)
}

// first is the value of the first variable that is set.
func first(env func(string) string, names []string) string {
	for _, name := range names {
		if v := plain(env(name)); v != "" {
			return v
		}
	}
	return ""
}

// plain is a text on one line, without control characters, and not longer than it may be.
func plain(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	if runes := []rune(text); len(runes) > maxText {
		text = string(runes[:maxText])
	}
	return text
}

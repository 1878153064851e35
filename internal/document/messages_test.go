package document

import (
	"fmt"
	"strings"
	"testing"
)

// TestMessages: what, where, why and what to do, for mistakes that people make.
func TestMessages(t *testing.T) {
	head := "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a:\n      module: {url: 'file:///m'}\n      namespace: x\n"
	fleet := "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    a: {group: g, kubeContext: x}\n  rollout:\n    waves:\n    - groups: [g]\n      "
	for name, c := range map[string]struct{ text, want string }{
		"tab":               {head + "\tvalues: {}\n", "b.yaml:8:1: a tab in the indentation (YAML is indented with spaces)"},
		"tab again":         {"bundle:\n\tapiVersion: v1alpha1\n", "b.yaml:2:1: a tab in the indentation"},
		"item":              {head + "      dependsOn:\n      - b\n     - c\n", "b.yaml:10:1: the indentation of this line fits no line above it"},
		"nested item":       {head + "      values:\n        l:\n          - a\n         - b\n", "b.yaml:11:1: the indentation of this line fits no line above it"},
		"inside":            {head + "      values:\n        a: 1\n        valuesFor:\n          l: {groups: [g], values: {a: 2}}\n", "b.yaml:10:9: bundle.instances.a.values.valuesFor: valuesFor stands inside of values (put it beside values, on the instance)"},
		"empty":             {"", "the file is empty (write bundle: or fleet: into it, or leave it out)"},
		"comments":          {"# nothing yet\n", "b.yaml: the file is empty (write bundle: or fleet: into it, or leave it out)"},
		"item in an item":   {head + "      dependsOn:\n      - b\n        - c\n", "b.yaml:9:9: bundle.instances.a.dependsOn[0]: there is no instance \"b - c\" (the next line is indented as a part of this item"},
		"no group at all":   {"runtime:\n  apiVersion: v1alpha1\n  name: r\n  clusters:\n    a: {kubeContext: x}\n", "group is required (write group: NAME, "},
		"at the top":        {"apiVersion: v1alpha1\nname: b\ninstances:\n  a: {module: {url: 'file:///m'}, namespace: x}\n", "b.yaml:1:1: apiVersion: the fields of a bundle stand at the top (indent them under bundle:)"},
		"fleet":             {"name: f\nclusters:\n  a: {kubeContext: x}\n", "the fields of a fleet stand at the top (indent them under fleet:)"},
		"values":            {"replicaCount: 1\nimage:\n  repository: nginx\nservice: {port: 80}\n", "it looks like the values of a chart"},
		"canary":            {fleet + "canary: 10%\n", "b.yaml:9:7: fleet.rollout.waves[0].canary: must be a number of clusters, is a string: a share of the clusters cannot be said (write for example 1)"},
		"soak":              {fleet + "soak: 5\n", "b.yaml:9:7: fleet.rollout.waves[0].soak: must be a duration, is a number without a unit (write for example 90s, 2m30s or 1h)"},
		"onFailure":         {strings.Replace(fleet, "    waves", "    onFailure: true\n    waves", 1) + "soak: 5s\n", "is a boolean (write onFailure: rollback, or leave it out)"},
		"onFailure above":   {strings.Replace(fleet, "  rollout", "  onFailure: rollback\n  rollout", 1) + "soak: 5s\n", "unknown field \"onFailure\" (it stands in rollout: {onFailure: rollback})"},
		"approval":          {fleet + "approval: true\n", "must be a string, is a boolean (write approval: manual, or leave it out)"},
		"quotes in quotes":  {head + "      values:\n        p: \"{{ env \"X\" }}\"\n        q: 1\n", "b.yaml:9:1: a quote inside of the quotes ends the text (write '...' around a text with \" in it; a template, {{ ... }}, is not evaluated here"},
		"in a flow":         {head + "      values: {p: \"{{ env \"X\" }}\", q: 1}\n", "b.yaml:8: a quote inside of the quotes ends the text"},
		"just quotes":       {head + "      values:\n        p: \"say \"hi\" to\"\n        q: 1\n", "b.yaml:9:1: a quote inside of the quotes ends the text (write '...' around a text with \" in it)"},
		"tag of YAML":       {head + "      values:\n        p: !secret X\n", "b.yaml:9: the tag !secret is not read (leave it out; a secret is ref://[STORE:]NAME, a text)"},
		"tag of no name":    {head + "      values:\n        p: !hunter2 X\n", "b.yaml:9: a tag of YAML is not read"},
		"registry as repo":  {strings.Replace(head, "module: {url: 'file:///m'}", "helm: {repo: 'oci://ghcr.io/x', chart: c, version: 1.0.0}", 1), "repo must be https:// or http:// and a host (a chart of a registry is written without repo: chart: oci://REGISTRY/PATH/CHART)"},
		"no group":          {strings.Replace(fleet, "    a:", "    b: {kubeContext: y}\n    a:", 1) + "soak: 5s\n", "cluster b is in no wave: it has no group (give it a group that a wave names"},
		"list of instances": {"bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n  - {name: a}\n", "must be a struct, is a list (write each entry under its name: instances: {NAME: {...}})"},
		"no list":           {head + "      dependsOn: b\n", "must be a list, is a string (write a list, also of one: dependsOn: [...])"},
		"module as text":    {strings.Replace(head, "{url: 'file:///m'}", "file:///m", 1), "must be a struct, is a string (write module: {url: ...})"},
		"number as text":    {"fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    a: {group: g, kubeContext: x, labels: {tier: 1}}\n", "must be a string, is a number (put it in quotes)"},
		"template":          {"bundle:\n  {{ .x }}:\n    a: b\n", "the file is a template"},
		"colon":             {head + "      x: a: b\n", "a text with a colon and a space stands in quotes"},
		"open quote":        {head + "      x: \"a\n", "is not closed"},
		"context":           {"fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    a: {group: g, context: x}\n", "unknown field \"context\""},
		"unknown group":     {strings.Replace(fleet, "- groups: [g]", "- groups: [t]", 1) + "soak: 5s\n", "there is no group \"t\""},
	} {
		p, fs := loadText(t, "b.yaml", c.text)
		if p != nil && !fs.HasErrors() {
			_, fs = p.Evaluate(implicit(nil))
		}
		if len(fs) != 1 || !strings.Contains(fs[0].String(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, fs, c.want)
		}
	}
}

// Where no cluster has a group, a wave of groups says how they get one.
func TestNoGroups(t *testing.T) {
	_, fs := loadText(t, "b.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    a: {kubeContext: x}\n  rollout: {waves: [{groups: [t]}]}\n")
	if !strings.Contains(fmt.Sprint(fs), "no cluster has one: write group: NAME at the clusters that are meant") {
		t.Error(fs)
	}
}

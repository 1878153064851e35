package promotion

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/source"
)

// leaf is one text among values.
type leaf struct {
	text string
	at   diag.Pos
}

// imageLeaves are the texts among values that say which image it is, by path: `image: NAME:TAG`, and below what is called an image its
// tag, digest and version. From which registry it comes is a matter of the place.
func imageLeaves(v v1alpha1.Values) map[string]leaf {
	out := map[string]leaf{}
	if v.Struct != nil {
		collect(out, v.Struct, "", "", false)
	}
	return out
}

func collect(out map[string]leaf, x *v1alpha1.Value, path, name string, image bool) {
	lower := strings.ToLower(name)
	is := strings.HasSuffix(lower, "image") || strings.HasSuffix(lower, "images")
	switch x.Kind {
	case v1alpha1.KindStruct:
		for _, f := range x.Fields {
			at := f.Name
			if path != "" {
				at = path + "." + f.Name
			}
			collect(out, f.Value, at, f.Name, image || is)
		}
	case v1alpha1.KindList:
		for i, e := range x.Items {
			collect(out, e, path+"["+strconv.Itoa(i)+"]", name, image)
		}
	case v1alpha1.KindString, v1alpha1.KindBytes:
		part := image && slices.Contains([]string{"tag", "digest", "version", "newtag"}, lower) || slices.Contains([]string{"imagetag", "imagedigest", "imageversion"}, lower)
		if part || is && strings.ContainsAny(x.Text, ":@") {
			out[path] = leaf{x.Text, diag.Pos(x.Pos)}
		}
	}
}

// images edits the values that name images, where the files say another one for the cluster than for where the release is from.
func (d *decision) images(cluster string, i v1alpha1.Instance, run running, row *Instance) {
	theirs, differ := d.theirs(i.Name, run)
	ours := imageLeaves(i.Values)
	for _, path := range slices.Sorted(maps.Keys(theirs)) {
		there, here := theirs[path], ours[path]
		switch {
		case here.text == there.text:
		case differ[path] || here.text == "":
			f := diag.Warnf("image-stays", "%s.%s stays as the files have it for %s", i.Name, path, cluster)
			f.Instance, f.Cluster, f.Pos, f.Why = i.Name, cluster, there.at, "the clusters of "+d.From.String()+" have different ones"
			if here.text == "" {
				f.Why, f.Fix = "nothing there sets it, and "+d.From.String()+" has "+strconv.Quote(there.text), "set it for "+cluster+" if it is to have it"
			}
			d.out.Findings = append(d.out.Findings, f)
		default:
			row.Values = append(row.Values, Value{Path: path, From: here.text, To: there.text, Pos: here.at})
			d.edits = append(d.edits, Edit{At: here.at, Field: path[strings.LastIndexAny(path, ".]")+1:], Was: here.text, Now: there.text})
		}
	}
}

// theirs are the values that name images where the release is from, and those that differ there.
func (d *decision) theirs(instance string, run running) (all map[string]leaf, differ map[string]bool) {
	differ = map[string]bool{}
	for _, c := range d.Release.Clusters {
		for _, i := range d.Source.placed(d.Bundle, c.Cluster) {
			if !c.In || i.Name != instance {
				continue
			}
			now := imageLeaves(i.Values)
			if c.Cluster == run.cluster || all == nil {
				all = now
			}
			for path, l := range now {
				differ[path] = differ[path] || all[path].text != l.text
			}
		}
	}
	return all, differ
}

// alone refuses an edit of what the files say for others, too.
func (d *decision) alone() {
	for _, c := range d.Target.Clusters {
		for _, spec := range d.Target.Specs[c.Name] {
			mine := spec.Name == d.Bundle && slices.Contains(d.To.Clusters, c.Name)
			for _, i := range d.Target.placed(spec.Name, c.Name) {
				says := literals(i)
				for _, e := range d.edits {
					if !slices.Contains(says, leaf{e.Was, e.At}) || mine && d.edited(c.Name, i.Name) {
						continue
					}
					d.no(i, c.Name, e.At, fmt.Sprintf("what is written for %s is written for %s of %s, too", d.To, i.Name, c.Name), fmt.Sprintf("%q would become %q for both", e.Was, e.Now),
						"write it apart for the clusters that are promoted to, in CUE or in a layer of valuesFor; or promote to these, too")
				}
			}
		}
	}
}

// literals are the texts of an instance that a promotion edits.
func literals(i v1alpha1.Instance) []leaf {
	s, _ := source.Of(i)
	version, digest := source.Literals(i)
	return append(slices.Collect(maps.Values(imageLeaves(i.Values))), leaf{s.Want, version}, leaf{s.Ref.Digest, digest})
}

// edited reports whether the instance on the cluster is one that is promoted.
func (d *decision) edited(cluster, instance string) bool {
	return slices.ContainsFunc(d.out.Instances, func(r Instance) bool { return r.Instance == instance && slices.Contains(r.Clusters, cluster) })
}

// NotWritten are findings of edits that do not stand in the files as they were read: what is said there comes from elsewhere.
func NotWritten(p *Promotion, failed []Edit) diag.Findings {
	var out diag.Findings
	for _, e := range failed {
		f := diag.Errorf(CodeWritten, "%q for %s is no text that stands in a file", e.Was, p.To)
		f.Pos, f.Why, f.Fix = e.At, "it is made of something else there: a fact of the cluster, a reference, an expression", "write "+strconv.Quote(e.Now)+" where it comes from, or write the text itself here"
		out = append(out, f)
	}
	return out
}

// Package madeguard refuses plans that would put made-up values over others that are in use. What is kept goes by the names
// of instances; here the objects are asked, which a rename or a move takes along.
//
// A pure room: madeguard must not know where values are kept, nor what is done about a refusal but by what it names.
package madeguard

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// Values are what was made up for an instance: whose what is kept is, what it has in this plan, and what is to be made anew.
type Values struct {
	Settled chance.Settled
	Now     chance.Answers
	Rotate  chance.Rotation
	// Open: something will be made up for the instance that is not known yet, because it takes values of others.
	Open bool
	// Takes are the values that the instance takes of others' objects.
	Takes []bind.From
}

// Check refuses a plan that would change passwords unasked, or not everywhere: what an instance has in it is put into some
// objects over what they and others were made with.
func Check(p *plan.Plan, in plan.Input, instance string, v Values, bodies map[object.Ref]object.Object) diag.Findings {
	var out diag.Findings
	if (v.Now.Secret() || v.Open) && !v.Rotate.All(instance) {
		out = MadeAnew(p, in, instance, v.Settled, v.Now, bodies)
	}
	if len(out) > 0 {
		return out
	}
	return left(p, in, instance, v, bodies)
}

// MadeAnew refuses to put an instance's made-up values over those that objects were made with: where nothing was kept and
// the record is lost too, or tells of a delete that was cut short and left objects, where an object is there without the bundle, and where the objects were another instance's or another bundle's (of these files, or adopted) and
// its values did not come along. made is what the instance has in this plan. One that had values before may take over objects that hold none of them.
func MadeAnew(p *plan.Plan, in plan.Input, instance string, s chance.Settled, made chance.Answers, bodies map[object.Ref]object.Object) diag.Findings {
	fresh, came, along := s.Kept[instance].IsZero(), s.Came[instance], false
	for _, ch := range p.Changes {
		if ch.Instance != instance || ch.Action == plan.Release {
			continue
		}
		from := ""
		if len(ch.FromManagers) > 0 {
			from = object.OwnerOf(ch.FromManagers[0])
		}
		switch {
		case ch.Code == plan.CodeAdopted && from != "" && puts(ch, bodies, made):
			return diag.Findings{chance.Adopted(ch.Ref.String(), instance)}
		case fresh && inUse(ch, bodies, made):
			return diag.Findings{chance.InUse(ch.Ref.String(), instance)}
		case ch.Code != plan.CodeMoved:
		case from != "" && (from == came.Owner || from == s.Kept[instance].From && !fresh && !puts(ch, bodies, made)):
			along = true
		case fresh || puts(ch, bodies, made):
			return diag.Findings{chance.MovedHere(ch.Ref.String(), instance)}
		}
	}
	declares := func(ref object.Ref) bool {
		return slices.ContainsFunc(in.Desired, func(d plan.Desired) bool { return d.Ref == ref && d.Instance == instance && !d.OwnNamespace })
	}
	for _, o := range in.Inventory {
		switch was := o.Instance; {
		case was == instance && fresh && (in.Rebuilt && !in.Recorded || in.Undone && stands(in, o)):
			return diag.Findings{chance.Lost(instance, object.SystemNamespace)}
		case was == instance || !declares(o.Ref):
		case was == came.Instance:
			along = true
		case s.Kept[was].Secret() && made.Digest() != s.Kept[was].Digest() && (fresh || holds(bodies, o.Ref, made)):
			return diag.Findings{chance.Moved(o.Ref.String(), was, instance, !s.Kept[instance].IsZero() && declared(in, was))}
		}
	}
	if came.Removed && !along && made.Secret() {
		return diag.Findings{chance.Unclaimed(instance)}
	}
	if came.Doubt && !along {
		return diag.Findings{chance.Doubtful(instance, came.Instance)}
	}
	return nil
}

// inUse reports whether a change puts something of what was made up over another value of an object that is there without the bundle: taken
// over, or let go before and kept. Helm makes anew itself what a chart does not look up; of a chart that does look up what it made, what was found is
// none of what was made up, and each other key of its Secrets counts, but for certificates and keys in Secrets that it does not look up.
func inUse(ch plan.Change, bodies map[object.Ref]object.Object, made chance.Answers) bool {
	helm := strings.HasPrefix(ch.From, "Helm release ")
	if ch.Code != plan.CodeAgain && (ch.Code != plan.CodeAdopted || helm && len(made.Secrets) == 0) {
		return false
	}
	if helm && !ch.Ref.IsSecret() {
		return false // made anew with every upgrade
	}
	_, read := made.Secrets[ch.Ref.Namespace+"/"+ch.Ref.Name]
	ch.Fields = slices.DeleteFunc(slices.Clone(ch.Fields), func(f plan.FieldChange) bool {
		return f.Added || !f.Hidden && f.Old == "" || helm && !read && certificate(bodies[ch.Ref].Body, f.Path)
	})
	return puts(ch, bodies, made)
}

// certificate reports whether what is to be written at a path of a Secret is a certificate, or its key.
func certificate(body map[string]any, path string) bool {
	steps := neversecret.Steps(path)
	if len(steps) != 2 {
		return false
	}
	for _, part := range []string{"data", "stringData"} {
		values, _ := body[part].(map[string]any)
		text, _ := values[steps[1]].(string)
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil && part == "data" {
			text = string(plain)
		}
		if strings.Contains(text, "-----BEGIN ") {
			return true
		}
	}
	return false
}

// puts reports whether a change puts something of what was made up into an object that may hold something else. It does not
// where the API server was asked, and nothing would change but metadata and values beside it.
func puts(ch plan.Change, bodies map[object.Ref]object.Object, made chance.Answers) bool {
	known := finder(made)
	changes := slices.ContainsFunc(ch.Fields, func(f plan.FieldChange) bool {
		return !strings.HasPrefix(f.Path, "metadata.") && !beside(bodies[ch.Ref].Body, f.Path, known)
	})
	return holds(bodies, ch.Ref, made) && (!ch.Checked || changes)
}

// beside reports whether a path names a value of a Secret or ConfigMap that holds nothing of what is known. A value that goes, and
// a path that is not understood, may be of the password that is in use.
func beside(body map[string]any, path string, known *redact.Redactor) bool {
	key, ok := strings.CutPrefix(path, "data.")
	if !ok {
		return false
	}
	for _, part := range []string{"data", "stringData"} {
		values, _ := body[part].(map[string]any)
		if text, there := values[key].(string); there {
			return known.Value("", text) == text
		}
	}
	return false
}

// holds reports whether an object that is to be written holds something of what was made up. What is taken from the record
// is not at hand.
func holds(bodies map[object.Ref]object.Object, ref object.Ref, made chance.Answers) bool {
	text, err := json.Marshal(bodies[ref].Body)
	if err != nil || bodies[ref].Body == nil {
		return ref.IsSecret()
	}
	return finder(made).Value("", string(text)) != string(text)
}

// declared reports whether an instance has objects in the bundle.
func declared(in plan.Input, instance string) bool {
	return slices.ContainsFunc(in.Desired, func(d plan.Desired) bool { return d.Instance == instance && !d.OwnNamespace })
}

// stands reports whether an object that the record has of an instance is there, or may be. A delete leaves the instance's own
// Namespace.
func stands(in plan.Input, o plan.InventoryEntry) bool {
	live := in.Live[o.Ref]
	return !o.OwnNamespace && o.Hook == nil && (live.Unseen != "" || live.Found && !live.Terminating && (o.UID == "" || o.UID == live.UID))
}

// LeftBehind refuses to delete a bundle with what was made up for an instance whose Secrets go to an instance of another
// bundle that has another name: nobody would keep it. made are the digests of what is kept for the instances.
func LeftBehind(p *plan.Plan, beside plan.Beside, made map[string]string) diag.Findings {
	for _, ch := range p.Changes {
		to := beside.Declares[ch.Ref]
		if ch.Action == plan.Release && ch.Code == plan.CodeMoved && ch.Ref.IsSecret() && made[ch.Instance] != "" && to.Instance != ch.Instance {
			return diag.Findings{chance.LeftBehind(ch.Ref.String(), ch.Instance, to.Bundle, to.Instance)}
		}
	}
	return nil
}

package object

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEntriesOf: what one of the managers writes moves the hash, also the same field again; writes of anybody else
// and those of the status do not.
func TestEntriesOf(t *testing.T) {
	entry := func(manager, subresource, fields string, second int) metav1.ManagedFieldsEntry {
		at := metav1.NewTime(time.Unix(int64(second), 0))
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, APIVersion: "v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Time: &at}
	}
	theirs := entry("kubectl", "", `{"f:data":{"f:a":{}}}`, 1)
	hash := func(entries ...metav1.ManagedFieldsEntry) string {
		return EntriesOf(entries, []string{"kubectl", "other"})
	}
	was := hash(theirs)
	for name, c := range map[string]struct {
		now  string
		same bool
	}{
		"ours too":                  {hash(theirs, entry("hawser:x", "", `{"f:data":{"f:b":{}}}`, 5)), true},
		"a status":                  {hash(theirs, entry("controller", "status", `{"f:status":{}}`, 5)), true},
		"written in other layout":   {hash(entry("kubectl", "", `{ "f:data": {"f:a": {}} }`, 1)), true},
		"the same field, later":     {hash(entry("kubectl", "", `{"f:data":{"f:a":{}}}`, 2)), false},
		"one more field":            {hash(entry("kubectl", "", `{"f:data":{"f:a":{},"f:b":{}}}`, 1)), false},
		"somebody else":             {hash(theirs, entry("other", "", `{"f:data":{"f:b":{}}}`, 1)), false},
		"scaled":                    {hash(theirs, entry("kubectl", "scale", `{"f:spec":{"f:replicas":{}}}`, 1)), false},
		"nobody has anything of it": {hash(), false},
	} {
		if (c.now == was) != c.same {
			t.Errorf("%s: %q, before %q", name, c.now, was)
		}
	}
	if hash() != "" {
		t.Error("nobody's entries have a hash")
	}
}

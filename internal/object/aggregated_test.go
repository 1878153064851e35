package object

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAggregated(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	rules, whole := entry(aggregator, `{"f:rules":{}}`), entry("hawser:me", `{"f:aggregationRule":{},"f:metadata":{}}`)
	for reason, c := range map[string]struct {
		entries          []metav1.ManagedFieldsEntry
		aggregates, only bool
	}{
		"as it is declared": {[]metav1.ManagedFieldsEntry{whole, rules}, true, false},
		"made again":        {[]metav1.ManagedFieldsEntry{rules}, false, true},
		"of somebody too":   {[]metav1.ManagedFieldsEntry{rules, entry("kubectl", `{"f:metadata":{}}`)}, false, false},
		"a role":            {[]metav1.ManagedFieldsEntry{entry("hawser:me", `{"f:rules":{}}`)}, false, false},
		"nothing is known":  {nil, false, false},
	} {
		if Aggregates(c.entries) != c.aggregates || OnlyAggregated(c.entries) != c.only {
			t.Errorf("%s: aggregates %t, only %t", reason, Aggregates(c.entries), OnlyAggregated(c.entries))
		}
	}
}

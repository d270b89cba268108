package schemas

import (
	"maps"
	"regexp"
	"slices"
	"testing"
)

var componentRef = regexp.MustCompile(`"#/components/(\w+)/(\w+)"`)

// The document of one call has all that it refers to, and nothing else.
func TestExecuteHasNoExternalReferences(t *testing.T) {
	components := Execute()["components"].(map[string]any)
	used := map[string]bool{}
	for _, ref := range componentRef.FindAllStringSubmatch(string(mustEncode(Execute())), -1) {
		used[ref[1]+"/"+ref[2]] = true
		if of, _ := components[ref[1]].(map[string]any); of[ref[2]] == nil {
			t.Errorf("%s is not there", ref[0])
		}
	}
	for kind, of := range components {
		for name := range of.(map[string]any) {
			if kind != "securitySchemes" && !used[kind+"/"+name] {
				t.Errorf("nothing refers to %s/%s", kind, name)
			}
		}
	}
	if len(used) < 20 || !used["schemas/Execution"] {
		t.Errorf("it refers to %v only", slices.Sorted(maps.Keys(used)))
	}
}

func TestExecuteReturnsCopy(t *testing.T) {
	delete(Execute(), "openapi")
	clear(Execute()["components"].(map[string]any))
	if again := Execute(); again["openapi"] != "3.1.0" || len(again["components"].(map[string]any)) == 0 {
		t.Error("a caller has changed it for the next")
	}
}

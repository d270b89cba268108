package lesson

import (
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
	"rote/routine/service"
	"rote/routine/spelling"
)

// An author uses a stored secret by its name and never sees it. The saved routine refers to it.
func TestLessonUsesAStoredSecret(t *testing.T) {
	const value = "hunter2-very-secret"
	var released []routine.Release
	var used *service.Service
	c := newClassroom(t, routinetest.Page{HTML: "<b>" + value + "</b>", Releases: &released}, func(config *Config) { used = config.Service })
	keeper := author
	keeper.Scopes |= routine.ScopeSecretsWrite
	id := c.start(t)
	typing := raw(`{"type":"input_text","selector":"#p","text":"{{secret:shop.password}}"}`)
	tried, err := c.Try(t.Context(), author, id, TryRequest{Operations: typing})
	if said := routine.JSONText(tried); err == nil && !strings.Contains(said, "rote secret set shop") {
		t.Errorf("without the secret: %s", said)
	}
	_, _, err = used.SaveSecret(t.Context(), keeper, routine.ViaREST, "shop",
		[]byte(`{"hosts": ["shop.test"], "fields": {"password": "`+value+`"}}`), service.PutCondition{})
	if err != nil {
		t.Fatal(err)
	}
	tried, err = c.Try(t.Context(), author, id, TryRequest{Operations: append(typing, raw(`{"type":"return_html"}`)...)})
	if err != nil || len(released) != 1 || released[0].Texts[0] != value || released[0].Rules == nil {
		t.Fatalf("%s %+v %v", routine.JSONText(tried), released, err)
	}
	uses, _, err := used.SecretUses(t.Context(), author, "shop", nil, 5, 0)
	if err != nil || uses[0].What != "typed" || uses[0].Outcome != "ok" || uses[0].Host != "shop.test" || uses[0].UserID != "ada" {
		t.Errorf("%+v %v", uses, err)
	}
	saved, err := c.Save(t.Context(), author, id, SaveRequest{Name: "log_in", Description: "Logs in."})
	said := routine.JSONText(tried) + routine.JSONText(saved)
	if err != nil || !strings.Contains(said, "{{secret:shop.password}}") {
		t.Errorf("%s %v", said, err)
	}
	for _, spelled := range spelling.All(value) {
		if strings.Contains(said, spelled) {
			t.Errorf("an answer has the value: %s", said)
		}
	}
}

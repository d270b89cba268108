package console

import (
	"net/http"
	"strconv"

	"rote/routine"
)

// versionView is what the page of a version shows: how it differs from another one.
type versionView struct {
	*routine.Routine
	// Old and New are the two versions, and OldText and NewText their definitions.
	Old, New         *routine.Version
	OldText, NewText string
	// Changes are the differences in words.
	Changes []string
}

// versionPage shows a version beside another one: that of the query, or else the one before.
func versionPage(q *request) error {
	id, number := q.pathParameter("id"), atoi(q.pathParameter("n"))
	against := max(1, number-1)
	if text := q.URL.Query().Get("against"); text != "" {
		against = atoi(text)
	}
	v := versionView{}
	var err error
	if v.Routine, err = q.service.Routine(q.Context(), q.principal, id); err != nil {
		return err
	}
	if v.New, err = q.service.Version(q.Context(), q.principal, id, number); err != nil {
		return err
	}
	if v.Old, err = q.service.Version(q.Context(), q.principal, id, against); err != nil {
		return err
	}
	patch, err := q.service.DiffVersions(q.Context(), q.principal, id, against, number)
	if err != nil {
		return err
	}
	v.OldText, v.NewText = definitionText(v.Old.Definition), definitionText(v.New.Definition)
	if v.Changes, err = patchInWords(v.Old, patch); err != nil {
		return err
	}
	return q.render(http.StatusOK, "version", page{Title: "Version " + strconv.Itoa(number), Section: "routines", Modules: []string{"diff.js"},
		Crumbs: []crumb{{"Routines", q.to("routines")}, {routine.Truncate(routine.PlainText(v.Name), 80), q.to("routines", id)}}, Data: v})
}

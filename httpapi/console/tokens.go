package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"rote/routine"
	"rote/routine/service"
)

func (x *console) tokenRoutes(r chi.Router) {
	r.Get("/tokens", x.signedIn(tokensPage))
	r.Post("/tokens", x.signedIn(grantToken))
	r.Post("/tokens/{token_id}/revoke", x.signedIn(withdrawToken))
}

// tokensData is what the page of the tokens shows.
type tokensData struct {
	Tokens []tokenRow
	Page   listPage
	Form   tokenForm
	Fault  *formFault
}

// tokenRow is a token in the list.
type tokenRow struct {
	*routine.Token
	// State is active, expired or revoked.
	State string
	// Own reports whether it is the token with which the person has signed in.
	Own bool
}

// tokenForm is the form of a new token as it was typed.
type tokenForm struct {
	User, Hosts, Days string
	Scopes            []scopeBox
}

// scopeBox is the checkbox of a scope.
type scopeBox struct {
	Name, Means string
	Checked     bool
}

// scopeMeanings say what a token with a scope may do, in the order of the form.
var scopeMeanings = []scopeBox{
	{Name: "routines:read", Means: "read routines and their versions"},
	{Name: "routines:write", Means: "create, change and archive routines"},
	{Name: "executions:run", Means: "run routines, cancel runs, use the tools of MCP, keep schedules"},
	{Name: "executions:read", Means: "read runs with their results and evidence"},
	{Name: "secrets:read", Means: "list secrets and sessions, never their values"},
	{Name: "secrets:write", Means: "save and delete secrets and sessions"},
	{Name: "admin", Means: "everything above, tokens and health"},
}

// scopeBoxes returns the checkboxes, with those of some scopes checked.
func scopeBoxes(checked []string) []scopeBox {
	var boxes []scopeBox
	for _, b := range scopeMeanings {
		for _, name := range checked {
			b.Checked = b.Checked || name == b.Name
		}
		boxes = append(boxes, b)
	}
	return boxes
}

// defaultTokenDays is the time to live that the form of a new token proposes.
const defaultTokenDays = "90"

func tokensPage(q *request) error {
	return q.showTokens(tokenForm{Days: defaultTokenDays, Scopes: scopeBoxes(routine.DefaultScopes.Names())}, nil)
}

// showTokens shows the list with the form of a new token.
func (q *request) showTokens(form tokenForm, fault *formFault) error {
	offset := q.pageOffset()
	list, total, err := q.service.OrganizationTokens(q.Context(), q.principal, listRows, offset)
	if err != nil {
		return err
	}
	d := tokensData{Page: q.listPage(offset, len(list), total), Form: form, Fault: fault}
	for _, t := range list {
		row := tokenRow{Token: t, State: "active", Own: t.ID == q.principal.TokenID}
		switch {
		case t.RevokedAt != nil:
			row.State = "revoked"
		case !t.Valid(time.Now()):
			row.State = "expired"
		}
		d.Tokens = append(d.Tokens, row)
	}
	return q.render(fault.Status(), "tokens", page{Title: "Tokens", Section: "tokens", Data: d})
}

// grantedToken is what the page of a new token shows.
type grantedToken struct {
	*routine.Token
	Secret   string
	Snippets []snippet
}

// grantToken answers the form of a new token with the token itself. A redirect would lose it:
// the secret is not stored.
func grantToken(q *request) error {
	if err := q.service.MayManageTokens(q.principal); err != nil {
		return err
	}
	if err := q.readForm(); err != nil {
		return err
	}
	names := q.PostForm["scope"]
	form := tokenForm{User: q.PostForm.Get("user"), Hosts: q.PostForm.Get("hosts"), Days: q.PostForm.Get("days"), Scopes: scopeBoxes(names)}
	validFor, ok := readDays(form.Days)
	if !ok {
		return q.showTokens(form, fieldFault("days", "Write a number of days from 1 to 36500, or leave the field empty."))
	}
	if len(names) == 0 {
		return q.showTokens(form, fieldFault("scope", "Choose at least one scope: a token without any can do nothing."))
	}
	var secret string
	var token *routine.Token
	scopes, err := routine.ParseScopes(names)
	if err == nil {
		secret, token, err = q.service.GrantToken(q.Context(), q.principal, service.Grant{UserID: strings.TrimSpace(form.User), Scopes: scopes,
			AllowedHosts: strings.Fields(form.Hosts), ValidFor: validFor})
	}
	if err != nil {
		fault, err := q.refused(err, func(string) string { return "" })
		if err != nil {
			return err
		}
		return q.showTokens(form, fault)
	}
	return q.render(http.StatusCreated, "token_granted", page{Title: "New token", Section: "tokens", Crumbs: []crumb{{"Tokens", q.to("tokens")}},
		Data: grantedToken{token, secret, tokenSnippets(q.address(), secret)}})
}

// readDays returns a time to live that was typed as a number of days; 0 if nothing was typed.
func readDays(text string) (time.Duration, bool) {
	const maxDays = 36500
	if text = strings.TrimSpace(text); text == "" {
		return 0, true
	}
	n, err := strconv.Atoi(text)
	return time.Duration(n) * 24 * time.Hour, err == nil && n >= 1 && n <= maxDays
}

func withdrawToken(q *request) error {
	if err := q.service.WithdrawToken(q.Context(), q.principal, q.pathParameter("token_id")); err != nil {
		return err
	}
	return q.redirect("tokens")
}

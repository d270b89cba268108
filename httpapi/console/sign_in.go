package console

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"rote/httpapi"
	"rote/routine"
	"rote/routine/importer"
)

// cookieName returns the name of the cookie with the secret of the sign-in. Cookies ignore
// ports, so the port is in the name: two services on one machine would otherwise sign each
// other out.
func (q *request) cookieName() string {
	if q.isHTTPS() {
		return q.secureCookieName()
	}
	if _, port, err := net.SplitHostPort(q.Host); err == nil {
		return "rote-" + port
	}
	return "rote-80"
}

// secureCookieName is the name of the cookie if the browser uses HTTPS.
func (q *request) secureCookieName() string {
	if _, port, err := net.SplitHostPort(q.Host); err == nil {
		return "__Secure-rote-" + port
	}
	return "__Secure-rote-443"
}

// isHTTPS reports whether the browser has used HTTPS. A proxy in front of the service ends
// it, and then the origin of a form says so, which no other page can choose. Requests without
// an origin are told apart by the cookie that the form has set.
func (q *request) isHTTPS() bool {
	if q.TLS != nil {
		return true
	}
	if origin := q.Header.Get("Origin"); origin != "" {
		return strings.HasPrefix(origin, "https://")
	}
	_, err := q.Cookie(q.secureCookieName())
	return err == nil
}

// isLoopback reports whether the request has been sent to a name that always means the
// same machine, whose traffic no network sees.
func (q *request) isLoopback() bool {
	name, _, err := net.SplitHostPort(q.Host)
	if err != nil {
		name = q.Host
	}
	name = strings.ToLower(strings.Trim(name, "[]."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// signedInPrincipal returns whom the cookie of the request belongs to. CodeUnauthenticated
// without one, and if its token has been revoked; CodeStoreUnavailable.
func (q *request) signedInPrincipal() (routine.Principal, error) {
	if q.local != nil {
		return *q.local, nil
	}
	cookie, err := q.Cookie(q.cookieName())
	if err != nil {
		return routine.Principal{}, routine.Errorf(routine.CodeUnauthenticated, "sign in to see this page")
	}
	return q.service.SignedIn(q.Context(), cookie.Value)
}

// signInData is what the sign-in page shows.
type signInData struct {
	// Next is the path to which signing in leads.
	Next  string
	Error string
	// Definition, if not empty, is the text that was posted when the sign-in had ended. It
	// is kept in the form, and the editor gets it back.
	Definition string
	// Source is likewise a recording that was to be imported.
	Source string
	// Insecure is true if the page cannot be used, because a network could read the token.
	Insecure bool
}

func signInPage(q *request) error {
	next := q.localPath(q.URL.Query().Get("next"))
	if q.local != nil {
		http.Redirect(q.w, q.Request, next, http.StatusSeeOther)
		return nil
	}
	return q.render(http.StatusOK, "login", signInView(signInData{Next: next, Insecure: q.isInsecure()}))
}

// isInsecure reports whether a token must not be typed into this page.
func (q *request) isInsecure() bool { return !q.isHTTPS() && !q.isLoopback() && !q.isBehindProxy() }

// isBehindProxy reports whether a reverse proxy says that the browser used HTTPS. It is
// trusted for the decision to show the form only: the cookie is Secure by the form's origin.
func (q *request) isBehindProxy() bool {
	return strings.EqualFold(q.Header.Get("X-Forwarded-Proto"), "https")
}

func signInView(d signInData) page {
	return page{Title: "Sign in", Modules: []string{"login.js"}, Data: d}
}

// signInAgain is the page for somebody whose sign-in has ended. It leads back to the page,
// with the text of the editor or the recording if a form with one was posted.
func (q *request) signInAgain(e *routine.Error) page {
	d := signInData{Next: q.localPath(q.URL.RequestURI()), Error: e.Message, Insecure: q.isInsecure()}
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		d.Next = q.base + "/"
		if u, err := url.Parse(q.Referer()); err == nil {
			d.Next = q.localPath(u.RequestURI())
		}
		if q.URL.Path == q.to("routines", "import") {
			d.Next = q.to("routines", "import")
			v := &importView{}
			if q.readRecording(v) == nil && len(v.Source) <= importer.MaxSource {
				d.Source = v.Source
			}
		} else if q.readForm() == nil {
			if next := q.PostForm.Get("next"); next != "" {
				d.Next = q.localPath(next)
			}
			d.Definition = q.PostForm.Get(definitionField)
			if version := q.PostForm.Get("version"); d.Definition != "" && version != "" { // the one that the text was made from
				path, _, _ := strings.Cut(d.Next, "?")
				d.Next = path + "?" + url.Values{"version": {version}}.Encode()
			}
		}
	}
	return signInView(d)
}

// definitionField is the name of the field of the editor.
const definitionField = "definition"

// signIn answers the form of the sign-in page.
func signIn(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	d := signInData{Next: q.localPath(q.PostForm.Get("next")), Definition: q.PostForm.Get(definitionField), Source: q.PostForm.Get("source")}
	if !q.isHTTPS() && !q.isLoopback() {
		d.Insecure = true
		return q.render(http.StatusForbidden, "login", signInView(d))
	}
	if err := q.admission.SignInAllowed(q.w, q.Request); err != nil {
		return err
	}
	secret, _, err := q.service.SignIn(q.Context(), strings.TrimSpace(q.PostForm.Get("token")))
	if routine.CodeOf(err) == routine.CodeUnauthenticated {
		httpapi.RecordProblem(q.Context(), err)
		d.Error = "The service does not know this token, or it has been revoked or has expired. Create one with: rote token create"
		return q.render(http.StatusUnauthorized, "login", signInView(d))
	}
	if err != nil {
		return err
	}
	q.setCookie(secret, int(routine.SignInTime.Seconds()))
	if d.Definition != "" || d.Source != "" {
		return q.render(http.StatusOK, "resume", page{Title: "Signed in again", Data: d})
	}
	http.Redirect(q.w, q.Request, d.Next, http.StatusSeeOther)
	return nil
}

func (q *request) setCookie(secret string, maxAge int) {
	http.SetCookie(q.w, &http.Cookie{Name: q.cookieName(), Value: secret, Path: q.base, HttpOnly: true, Secure: q.isHTTPS(),
		SameSite: http.SameSiteStrictMode, MaxAge: maxAge})
}

func signOut(q *request) error {
	cookie, err := q.Cookie(q.cookieName())
	if err == nil {
		if err := q.service.SignOut(q.Context(), cookie.Value); err != nil {
			return err
		}
		q.setCookie("", -1)
	}
	return q.redirect("login")
}

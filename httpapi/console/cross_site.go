package console

import (
	"net/http"

	"rote/httpapi"
	"rote/routine"
)

// contentPolicy lets pages load from this service only, and run no inline script or style.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types rote"

// secureHeaders sets the headers that all responses of the console have.
func (x *console) secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// refuseOtherSites refuses requests that pages of another origin make. SameSite cookies do
// not suffice: they ignore ports, so a page of another program on this machine would send
// the cookie. A link from elsewhere opens a page, but without the cookie's SameSite its
// content could not be read by the page that has the link.
func (x *console) refuseOtherSites(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := x.crossOrigin.Check(r)
		if err == nil && !readsByItself(r) {
			err = routine.Errorf(routine.CodeForbidden, "a page of another origin asked for it")
		}
		if err == nil {
			next.ServeHTTP(w, r)
			return
		}
		refused := routine.Errorf(routine.CodeForbidden,
			"the request comes from a page of another origin, which may not use the console. Open the console's address by itself")
		httpapi.RecordProblem(r.Context(), refused)
		http.Error(w, refused.Message, x.admission.Refuse(w.Header(), refused))
	})
}

// readsByItself reports whether a request comes from a page of the console or from a person
// who opens a link or types an address. Programs that are not browsers send no Sec-Fetch-Site.
func readsByItself(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

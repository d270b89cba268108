package practice

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// The sign-in page shows these, so they protect nothing.
const (
	demoUsername = "ada"
	demoPassword = "lovelace"
)

const (
	sessionCookie = "session"
	// maxSessions bounds the memory of a site that a load test signs in to.
	maxSessions  = 10_000
	maxLoginBody = 64 << 10
)

type session struct {
	csrfToken string
	nickname  string
	// stage is how far a visitor of the members' shop has logged in.
	stage stage
}

// sessions are the signed-in users by the id in the cookie. If there are too
// many, the oldest session ends. The zero value is empty and ready to use.
type sessions struct {
	mu    sync.Mutex
	byID  map[string]session
	order []string
}

// start starts a session with a new csrfToken and returns its id.
func (ss *sessions) start(s session) (id string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.byID == nil {
		ss.byID = map[string]session{}
	}
	if len(ss.order) == maxSessions {
		delete(ss.byID, ss.order[0])
		ss.order = ss.order[1:]
	}
	id = rand.Text()
	s.csrfToken = rand.Text()
	ss.byID[id] = s
	ss.order = append(ss.order, id)
	return id
}

// startCookie starts a session and returns the cookie that carries its id.
func (ss *sessions) startCookie(s session) *http.Cookie {
	return &http.Cookie{Name: sessionCookie, Value: ss.start(s), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// endAll ends all sessions.
func (ss *sessions) endAll() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.byID, ss.order = nil, nil
}

// fromRequest returns the session of the request's cookie.
func (ss *sessions) fromRequest(r *http.Request) (session, bool) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return session{}, false
	}
	return ss.fromCookie(cookie)
}

func (ss *sessions) fromCookie(cookie *http.Cookie) (session, bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	found, ok := ss.byID[cookie.Value]
	return found, ok
}

type loginPage struct {
	DemoUsername, DemoPassword string
	Username                   string
	Error                      string
}

func (s *Site) showLogin(w http.ResponseWriter, _ *http.Request) {
	s.renderLogin(w, http.StatusOK, "", "")
}

func (s *Site) renderLogin(w http.ResponseWriter, status int, username, problem string) {
	s.render(w, status, "login", loginPage{demoUsername, demoPassword, username, problem})
}

func (s *Site) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLoginBody)
	if err := r.ParseForm(); err != nil {
		s.renderLogin(w, http.StatusBadRequest, "", "The form could not be read.")
		return
	}
	form := r.PostForm
	username := form.Get("username")
	if trapFilled(form) {
		s.renderLogin(w, http.StatusBadRequest, username, "Refused: a trap field was filled.")
		return
	}
	if username != demoUsername || form.Get("password") != demoPassword {
		s.renderLogin(w, http.StatusUnauthorized, username, "Wrong username or password.")
		return
	}

	var nickname string
	if names := form["nickname"]; len(names) > 0 {
		nickname = names[len(names)-1]
	}
	http.SetCookie(w, s.sessions.startCookie(session{nickname: nickname}))
	http.Redirect(w, r, "/account", http.StatusSeeOther)
}

// trapFilled reports whether a field that people cannot see was filled in. Two
// fields of the page are named nickname; a browser sends them in the order of
// the page, where the trap comes first.
func trapFilled(form url.Values) bool {
	if form.Get("email") != "" {
		return true
	}
	nicknames := form["nickname"]
	return len(nicknames) > 1 && nicknames[0] != ""
}

type accountPage struct {
	CSRFToken string
	Name      string
	Orders    []order
}

func (s *Site) showAccount(w http.ResponseWriter, r *http.Request) {
	current, ok := s.sessions.fromRequest(r)
	if !ok {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	name := current.nickname
	if name == "" {
		name = demoUsername
	}
	s.render(w, http.StatusOK, "account", accountPage{CSRFToken: current.csrfToken, Name: name, Orders: orders()})
}

func (s *Site) listOrders(w http.ResponseWriter, r *http.Request) {
	current, ok := s.sessions.fromRequest(r)
	if !ok {
		WriteJSON(w, http.StatusForbidden, apiError{"sign in first"})
		return
	}
	if r.Header.Get("X-CSRF-Token") != current.csrfToken {
		WriteJSON(w, http.StatusForbidden, apiError{"the X-CSRF-Token header is missing or wrong"})
		return
	}
	WriteJSON(w, http.StatusOK, ordersResponse{Orders: orders()})
}

type apiError struct {
	Error string `json:"error"`
}

// sendInvoice returns an error without a session instead of redirecting to the
// sign-in page, which would be downloaded as the file.
func (s *Site) sendInvoice(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.sessions.fromRequest(r); !ok {
		s.render(w, http.StatusUnauthorized, "message", message{
			Title: "Sign in first",
			Text:  "Invoices are only shown to the person who paid them.",
		})
		return
	}
	id, isPDF := strings.CutSuffix(r.PathValue("file"), ".pdf")
	o, known := orderByID(id)
	if !isPDF || !known {
		s.showNotFound(w, r)
		return
	}
	invoice := invoicePDF(o)
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Length", strconv.Itoa(len(invoice)))
	_, _ = w.Write(invoice) // the visitor may have left
}

package practice

import (
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"rote/routine/totp"
)

// Member is who may log in to a members' shop.
type Member struct {
	Username, Password string
	// Key makes the one-time codes.
	Key totp.Key
}

// stage is how far a visitor has logged in.
type stage int

const (
	visiting stage = iota
	passwordAccepted
	loggedIn
)

// Members is a shop whose orders only one member sees, after a login with a password and a
// one-time code. Each form has a CSRF token, and a code is accepted once. Sessions are kept in
// memory. It is safe for concurrent use.
type Members struct {
	pages
	mux      *http.ServeMux
	member   Member
	sessions sessions

	mu              sync.Mutex
	lastStep        int64 // of the last code that was accepted
	logins, refused int
}

// NewMembers returns a shop for one member, without sessions.
func NewMembers(member Member) *Members {
	m := &Members{mux: http.NewServeMux(), pages: parsePages("members_login", "members_code", "members_orders"), member: member}
	m.mux.Handle("GET /{$}", http.RedirectHandler("/orders", http.StatusSeeOther))
	m.mux.HandleFunc("GET /login", m.showLogin)
	m.mux.HandleFunc("POST /login", m.takePassword)
	m.mux.HandleFunc("GET /code", m.showCode)
	m.mux.HandleFunc("POST /code", m.takeCode)
	m.mux.HandleFunc("GET /orders", m.showOrders)
	m.mux.Handle("GET /assets/{file}", http.FileServerFS(assetFiles))
	return m
}

// ServeHTTP disables caching, as that of a Site does.
func (m *Members) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w)
	r.Body = http.MaxBytesReader(w, r.Body, maxLoginBody)
	m.mux.ServeHTTP(w, r)
}

// EndSessions ends all sessions: everybody has to log in again.
func (m *Members) EndSessions() { m.sessions.endAll() }

// Logins returns how often somebody has logged in.
func (m *Members) Logins() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.logins
}

// Refused returns how often a username and password, or a code, was refused.
func (m *Members) Refused() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

// membersPage is the content of the pages of a members' shop.
type membersPage struct {
	CSRFToken, Error string
	Orders           []order
}

// showLogin starts a session for the token of the form.
func (m *Members) showLogin(w http.ResponseWriter, _ *http.Request) {
	m.renderLogin(w, http.StatusOK, "")
}

func (m *Members) renderLogin(w http.ResponseWriter, status int, problem string) {
	m.renderForm(w, status, "members_login", visiting, problem)
}

// renderForm writes a page with a form, whose token belongs to a new session of a stage.
func (m *Members) renderForm(w http.ResponseWriter, status int, page string, reached stage, problem string) {
	cookie := m.sessions.startCookie(session{stage: reached})
	http.SetCookie(w, cookie)
	started, _ := m.sessions.fromCookie(cookie)
	m.render(w, status, page, membersPage{CSRFToken: started.csrfToken, Error: problem})
}

// sentForm reports whether a request is that of a form which a visitor of a stage was shown.
func (m *Members) sentForm(r *http.Request, needed stage) bool {
	current, ok := m.sessions.fromRequest(r)
	return ok && current.stage == needed && same(r.PostFormValue("csrf_token"), current.csrfToken)
}

func (m *Members) takePassword(w http.ResponseWriter, r *http.Request) {
	switch {
	case !m.sentForm(r, visiting):
		m.renderLogin(w, http.StatusForbidden, "The form was not sent from this page.")
	case !same(r.PostFormValue("username"), m.member.Username) || !same(r.PostFormValue("password"), m.member.Password):
		m.refuse()
		m.renderLogin(w, http.StatusUnauthorized, "Wrong username or password.")
	default:
		http.SetCookie(w, m.sessions.startCookie(session{stage: passwordAccepted}))
		http.Redirect(w, r, "/code", http.StatusSeeOther)
	}
}

func (m *Members) showCode(w http.ResponseWriter, r *http.Request) {
	if current, ok := m.sessions.fromRequest(r); !ok || current.stage != passwordAccepted {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	m.renderForm(w, http.StatusOK, "members_code", passwordAccepted, "")
}

func (m *Members) takeCode(w http.ResponseWriter, r *http.Request) {
	switch {
	case !m.sentForm(r, passwordAccepted):
		m.renderLogin(w, http.StatusForbidden, "The form was not sent from this page.")
	case !m.acceptCode(r.PostFormValue("code"), time.Now()):
		m.refuse()
		m.renderForm(w, http.StatusUnauthorized, "members_code", passwordAccepted, "Wrong code.")
	default:
		http.SetCookie(w, m.sessions.startCookie(session{stage: loggedIn}))
		http.Redirect(w, r, "/orders", http.StatusSeeOther)
	}
}

// acceptCode reports whether a code is that of the present time step or the one before, and
// was not accepted already. It counts the login.
func (m *Members) acceptCode(code string, at time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	present, _ := m.member.Key.Step(at)
	for step := max(present-1, m.lastStep+1); step <= present; step++ {
		if same(code, m.member.Key.Code(step)) {
			m.lastStep = step
			m.logins++
			return true
		}
	}
	return false
}

func (m *Members) refuse() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused++
}

func (m *Members) showOrders(w http.ResponseWriter, r *http.Request) {
	if current, ok := m.sessions.fromRequest(r); !ok || current.stage != loggedIn {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	m.render(w, http.StatusOK, "members_orders", membersPage{Orders: orders()})
}

// same compares texts in a time that does not depend on where they differ.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

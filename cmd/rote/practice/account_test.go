package practice

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// formData is what a browser sends for the sign-in form: both nickname fields,
// the trap first.
func formData(username, password, trapNickname, nickname, email string) url.Values {
	return url.Values{
		"username": {username}, "password": {password},
		"nickname": {trapNickname, nickname}, "email": {email},
	}
}

func signedIn(t *testing.T) *visitor {
	t.Helper()
	v := newVisitor(t)
	if got := v.post("/login", formData("ada", "lovelace", "", "", "")); got.status != http.StatusSeeOther {
		t.Fatalf("sign-in: status %d, body %s", got.status, got.body)
	}
	return v
}

func TestSignIn(t *testing.T) {
	tooLarge := formData("ada", strings.Repeat("x", maxLoginBody), "", "", "")
	for _, tc := range []struct {
		name     string
		form     url.Values
		status   int
		location string
		want     string
	}{
		{"right credentials", formData("ada", "lovelace", "", "", ""), 303, "/account", ""},
		{"with the visible nickname", formData("ada", "lovelace", "", "Countess", ""), 303, "/account", ""},
		{"without the optional fields", url.Values{"username": {"ada"}, "password": {"lovelace"}}, 303, "/account", ""},
		{"wrong password", formData("ada", "byron", "", "", ""), 401, "", "Wrong username or password."},
		{"wrong username", formData("Ada", "lovelace", "", "", ""), 401, "", "Wrong username or password."},
		{"nothing filled in", url.Values{}, 401, "", "Wrong username or password."},
		{"trap nickname filled", formData("ada", "lovelace", "Countess", "", ""), 400, "", "a trap field was filled"},
		{"both nicknames filled", formData("ada", "lovelace", "Countess", "Countess", ""), 400, "", "a trap field was filled"},
		{"trap email filled", formData("ada", "lovelace", "", "", "a@b.test"), 400, "", "a trap field was filled"},
		{"too large", tooLarge, 400, "", "The form could not be read."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := newVisitor(t).post("/login", tc.form)
			if got.status != tc.status || got.header.Get("Location") != tc.location {
				t.Errorf("got %d to %q, want %d to %q", got.status, got.header.Get("Location"), tc.status, tc.location)
			}
			if !strings.Contains(got.body, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, got.body)
			}
			if hasCookie := got.header.Get("Set-Cookie") != ""; hasCookie != (tc.status == 303) {
				t.Errorf("Set-Cookie is %q", got.header.Get("Set-Cookie"))
			}
		})
	}
}

func TestCredentialsInTheAddressDoNotSignIn(t *testing.T) {
	if got := newVisitor(t).post("/login?username=ada&password=lovelace", nil); got.status != 401 {
		t.Errorf("status %d, want 401", got.status)
	}
}

func TestSessionCookie(t *testing.T) {
	v := newVisitor(t)
	got := v.post("/login", formData("ada", "lovelace", "", "", "")).header.Get("Set-Cookie")
	if !regexp.MustCompile(`^session=[A-Z2-7]{26}; Path=/; HttpOnly; SameSite=Lax$`).MatchString(got) {
		t.Errorf("Set-Cookie: %s", got)
	}
	again := v.post("/login", formData("ada", "lovelace", "", "", "")).header.Get("Set-Cookie")
	if got == again {
		t.Errorf("two sessions with one id: %s", got)
	}
}

func TestLoginPageHasTrapsBeforeTheirTwins(t *testing.T) {
	page := newVisitor(t).get("/login").body
	fields := regexp.MustCompile(`<input[^>]*class="nickname"[^>]*>`).FindAllString(page, -1)
	if len(fields) != 2 || !strings.Contains(fields[0], `tabindex="-1"`) || !strings.Contains(fields[1], `id="nickname"`) {
		t.Errorf("nickname fields: %q", fields)
	}
	for _, want := range []string{`class="email"`, `id="username"`, `id="password"`, `id="sign-in"`, "<code>ada</code>", "<code>lovelace</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

func TestFailedSignInKeepsTheNameEscaped(t *testing.T) {
	got := newVisitor(t).post("/login", formData(`"><b>`, "secret-word", "", "", ""))
	if !strings.Contains(got.body, `value="&#34;&gt;&lt;b&gt;"`) || strings.Contains(got.body, "secret-word") {
		t.Errorf("page:\n%s", got.body)
	}
}

func TestAccountNeedsASession(t *testing.T) {
	v := newVisitor(t)
	if got := v.get("/account"); got.status != 303 || got.header.Get("Location") != "/login" {
		t.Errorf("without a session: %d to %q", got.status, got.header.Get("Location"))
	}
	req := v.request(http.MethodGet, "/account", "")
	req.AddCookie(&http.Cookie{Name: "session", Value: "MADEUP"})
	if got := v.do(req); got.status != 303 || got.header.Get("Location") != "/login" {
		t.Errorf("with a made-up session: %d to %q", got.status, got.header.Get("Location"))
	}
}

func TestAccountPage(t *testing.T) {
	v := signedIn(t)
	got := v.get("/account")
	for _, want := range []string{`<h1 id="greeting">Hello, ada</h1>`, `data-id="A-1001"`, "42.50 EUR", `href="/invoices/A-1001.pdf"`} {
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("status %d, no %s in\n%s", got.status, want, got.body)
		}
	}
}

func TestAccountGreetsByTheVisibleNickname(t *testing.T) {
	v := newVisitor(t)
	v.post("/login", formData("ada", "lovelace", "", "Countess", ""))
	if got := v.get("/account"); !strings.Contains(got.body, "Hello, Countess<") {
		t.Errorf("page:\n%s", got.body)
	}
}

func csrfToken(t *testing.T, v *visitor) string {
	t.Helper()
	page := v.get("/account").body
	found := regexp.MustCompile(`<meta name="csrf-token" content="([A-Z2-7]{26})">`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("no token in\n%s", page)
	}
	return found[1]
}

func TestOrdersAPI(t *testing.T) {
	const (
		orders = `{"orders":[{"id":"A-1001","total":42.50,"currency":"EUR","status":"shipped"},` +
			`{"id":"A-1000","total":22.00,"currency":"EUR","status":"delivered"},` +
			`{"id":"A-0999","total":33.00,"currency":"EUR","status":"cancelled"}]}` + "\n"
		wrong    = `{"error":"the X-CSRF-Token header is missing or wrong"}` + "\n"
		stranger = `{"error":"sign in first"}` + "\n"
	)
	ada := signedIn(t)
	token := csrfToken(t, ada)
	nobody := visit(t, ada.base)
	otherSession := visit(t, ada.base)
	otherSession.post("/login", formData("ada", "lovelace", "", "", ""))

	for _, tc := range []struct {
		name    string
		visitor *visitor
		token   string
		status  int
		want    string
	}{
		{"session and token", ada, token, 200, orders},
		{"no token", ada, "", 403, wrong},
		{"wrong token", ada, token + "A", 403, wrong},
		{"token of another session", otherSession, token, 403, wrong},
		{"token without a session", nobody, token, 403, stranger},
		{"neither", nobody, "", 403, stranger},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := tc.visitor.request(http.MethodGet, "/api/orders", "")
			if tc.token != "" {
				req.Header.Set("X-CSRF-Token", tc.token)
			}
			got := tc.visitor.do(req)
			if got.status != tc.status || got.body != tc.want || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("got %d %s %s, want %d %s", got.status, got.header.Get("Content-Type"), got.body, tc.status, tc.want)
			}
		})
	}
}

func TestOldestSessionEndsWhenFull(t *testing.T) {
	site := NewSite()
	request := func(id string) *http.Request {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/account", nil)
		req.AddCookie(&http.Cookie{Name: sessionCookie, Value: id})
		return req
	}
	first, second := site.sessions.start(session{}), site.sessions.start(session{})
	for range maxSessions - 1 {
		site.sessions.start(session{})
	}
	if _, ok := site.sessions.fromRequest(request(first)); ok {
		t.Error("the oldest session is still there")
	}
	if _, ok := site.sessions.fromRequest(request(second)); !ok {
		t.Error("the second oldest session has ended")
	}
}

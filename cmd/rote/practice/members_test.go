package practice

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"rote/routine/totp"
)

// newMembers returns a members' shop and a visitor of it.
func newMembers(t *testing.T) (*Members, *visitor) {
	t.Helper()
	key, err := totp.ParseKey("JBSWY3DPEHPK3PXP")
	if err != nil {
		t.Fatal(err)
	}
	shop := NewMembers(Member{Username: "ada", Password: "correct horse", Key: key})
	server := httptest.NewServer(shop)
	t.Cleanup(server.Close)
	return shop, visit(t, server.URL)
}

// send sends the form of a page with the page's token.
func (v *visitor) send(path string, form url.Values) answer {
	v.t.Helper()
	page := v.get(path)
	token := regexp.MustCompile(`name="csrf_token" type="hidden" value="([^"]+)"`).FindStringSubmatch(page.body)
	if token == nil {
		v.t.Fatalf("no form at %s: status %d, %s", path, page.status, page.body)
	}
	form.Set("csrf_token", token[1])
	return v.post(path, form)
}

// codeOf returns the one-time code of a number of steps after the present one.
func (m *Members) codeOf(after int64) url.Values {
	step, _ := m.member.Key.Step(time.Now())
	return url.Values{"code": {m.member.Key.Code(step + after)}}
}

func ada(password string) url.Values {
	return url.Values{"username": {"ada"}, "password": {password}}
}

func TestMembersLogIn(t *testing.T) {
	shop, v := newMembers(t)
	if got := v.get("/orders"); got.status != 303 || got.header.Get("Location") != "/login" {
		t.Fatalf("a stranger sees the orders: %d, %s", got.status, got.body)
	}
	got := v.send("/login", ada("correct horse"))
	if got.status != 303 || got.header.Get("Location") != "/code" {
		t.Fatalf("password: status %d, %s", got.status, got.body)
	}
	if got := v.get("/orders"); got.status != 303 {
		t.Errorf("the password without a code shows the orders: %s", got.body)
	}
	got = v.send("/code", shop.codeOf(0))
	if got.status != 303 || !strings.Contains(got.header.Get("Set-Cookie"), "HttpOnly") {
		t.Fatalf("code: status %d, cookie %q", got.status, got.header.Get("Set-Cookie"))
	}
	if got := v.get("/orders"); got.status != 200 || !strings.Contains(got.body, `data-id="A-1001"`) {
		t.Errorf("orders: status %d, %s", got.status, got.body)
	}
	if shop.Logins() != 1 || shop.Refused() != 0 {
		t.Errorf("%d logins and %d refused, want 1 and 0", shop.Logins(), shop.Refused())
	}

	shop.EndSessions()
	if got := v.get("/orders"); got.status != 303 || got.header.Get("Location") != "/login" {
		t.Errorf("the session did not end: %d, %s", got.status, got.body)
	}
}

func TestMembersAreRefused(t *testing.T) {
	shop, v := newMembers(t)
	if got := v.send("/login", ada("wrong")); got.status != 401 || !strings.Contains(got.body, "Wrong username or password.") {
		t.Errorf("wrong password: status %d, %s", got.status, got.body)
	}
	if got := v.post("/login", ada("correct horse")); got.status != 403 {
		t.Errorf("a password without the form's token: status %d", got.status)
	}
	if got := v.get("/code"); got.status != 303 || got.header.Get("Location") != "/login" {
		t.Errorf("a code before the password: status %d", got.status)
	}
	v.send("/login", ada("correct horse"))
	if got := v.post("/code", shop.codeOf(0)); got.status != 403 {
		t.Errorf("a code without the form's token: status %d", got.status)
	}
	v.send("/login", ada("correct horse"))
	if got := v.send("/code", shop.codeOf(-9)); got.status != 401 || !strings.Contains(got.body, "Wrong code.") {
		t.Errorf("an old code: status %d, %s", got.status, got.body)
	}
	if shop.Logins() != 0 || shop.Refused() != 2 {
		t.Errorf("%d logins and %d refused, want 0 and 2", shop.Logins(), shop.Refused())
	}
}

func TestMembersUseACodeOnce(t *testing.T) {
	shop, _ := newMembers(t)
	at := time.Unix(3_000_000, 0)
	step, _ := shop.member.Key.Step(at)
	code := shop.member.Key.Code(step)
	if !shop.acceptCode(code, at) || shop.acceptCode(code, at) {
		t.Error("a code is accepted not once")
	}
	if shop.acceptCode(shop.member.Key.Code(step-1), at) {
		t.Error("the code before it is accepted afterwards")
	}
}

package console

import (
	"net/http"
	"net/url"
	"time"
)

// preferences are what a person has chosen for this browser. They are in a cookie, so that
// the server renders them and a page does not change its colours while it loads.
type preferences struct {
	// Theme is light, dark, or empty for that of the system.
	Theme string
	// UTC shows times in UTC, instead of the time zone of the browser.
	UTC bool
	// NoKeys turns the shortcuts of single keys off (WCAG 2.1.4).
	NoKeys bool
}

const preferencesCookie = "rote-preferences"

func readPreferences(r *http.Request) preferences {
	cookie, err := r.Cookie(preferencesCookie)
	if err != nil {
		return preferences{}
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return preferences{}
	}
	return preferencesOf(values)
}

func preferencesOf(values url.Values) preferences {
	p := preferences{UTC: values.Get("times") == "utc", NoKeys: values.Get("keys") == "off"}
	if theme := values.Get("theme"); theme == "light" || theme == "dark" {
		p.Theme = theme
	}
	return p
}

func (p preferences) encode() string {
	values := url.Values{}
	if p.Theme != "" {
		values.Set("theme", p.Theme)
	}
	if p.UTC {
		values.Set("times", "utc")
	}
	if p.NoKeys {
		values.Set("keys", "off")
	}
	return values.Encode()
}

// preferencesTime is how long a browser keeps the preferences.
const preferencesTime = 365 * 24 * time.Hour

// savePreferences answers the form in the header of each page, and leads back to the page.
func savePreferences(q *request) error {
	if err := q.readForm(); err != nil {
		return err
	}
	http.SetCookie(q.w, &http.Cookie{Name: preferencesCookie, Value: preferencesOf(q.PostForm).encode(), Path: q.base, HttpOnly: true,
		MaxAge: int(preferencesTime.Seconds()), SameSite: http.SameSiteStrictMode, Secure: q.isHTTPS()})
	http.Redirect(q.w, q.Request, q.localPath(q.PostForm.Get("back")), http.StatusSeeOther)
	return nil
}

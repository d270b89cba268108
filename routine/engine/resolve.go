package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"rote/routine"
	"rote/routine/operation"
	"rote/routine/placeholder"
	"rote/routine/spelling"
)

// fill replaces op's placeholders by values of parameters, of the run and of its page.
// A storage token without a value stays as it is written, with a warning.
func (r *runner) fill(ctx context.Context, op operation.Action) error {
	var failed error
	var site operation.Site // that is being filled
	var template *placeholder.Template
	resolve := func(t placeholder.Token) (any, bool) {
		v, found, err := r.resolve(ctx, t, site, template)
		if err != nil && failed == nil {
			failed = err
		}
		return v, found
	}
	written := map[string]bool{} // of secret values, as their places have them
	var storedTexts []string     // of stored secrets, likewise
	defer func() {
		var all []string
		for text := range written {
			all = append(all, spelling.Quoted(text)...)
		}
		r.hidden = r.hidden.with(all)
		r.stored = r.stored.with(storedTexts)
	}()
	filling := &placeholder.Filling{Resolve: resolve, Room: routine.MaxFilledBytes, Put: func(t placeholder.Token, text string) {
		if text = strings.Trim(text, `" `); text != "" && r.secret[t.Key] {
			written[text] = true
			if _, stored := r.storedSecret(t); stored {
				storedTexts = append(storedTexts, text)
			}
		}
	}}
	if err := r.judgeSecrets(ctx, op); err != nil {
		return err
	}
	err := operation.ReplaceTemplates(op, func(s operation.Site) (any, error) {
		t, _ := placeholder.Parse(s.Text, s.Place)
		if t.Literal() && s.Place != placeholder.Filename {
			return s.Text, nil
		}
		site, template = s, t
		filled, err := filling.Fill(t)
		return filled, cmp.Or(failed, err)
	})
	if failed != nil {
		return failed
	}
	r.Release = r.use.release
	var bad *placeholder.InvalidValueError
	if errors.As(err, &bad) {
		return routine.Errorf(routine.CodeInvalid, "the value of %s does not fit here: %s", bad.Token.Raw, bad.Reason)
	}
	return err
}

// resolve returns the value of a token of a site, which has a template.
func (r *runner) resolve(ctx context.Context, t placeholder.Token, s operation.Site, of *placeholder.Template) (any, bool, error) {
	if ref, stored := r.storedSecret(t); stored {
		text, err := r.readSecret(ctx, ref)
		r.secret[t.Key] = true
		return text, err == nil, err
	}
	switch t.Source {
	case placeholder.Parameter:
		v, found := r.Parameters[t.Name]
		if r.secret[t.Name] && operation.GivesOut(r.Record.Type, s) {
			r.useParameter(v)
		}
		return v, found, nil
	case placeholder.UUID:
		return uuid.NewString(), true, nil
	case placeholder.EpochMilliseconds:
		return strconv.FormatInt(r.now().UnixMilli(), 10), true, nil
	}
	if ctx.Err() != nil { // there may be thousands of tokens, and megabytes to read for each
		return nil, false, routine.CauseOf(ctx)
	}
	if text, found, err := r.sessionCookie(ctx, t, s, of); found || err != nil {
		r.Result.PlaceholderResolution[t.Key], r.secret[t.Key] = new(routine.Masked), true
		return text, err == nil, err
	}
	text, found, secret, err := r.read(ctx, t)
	if err != nil {
		return nil, false, err
	}
	text = r.Conceal(text) // a page of another site gets no copy of a secret
	if !found || text == "" {
		if fallback, ok := t.FallbackText(); ok {
			text, found, secret = fallback, true, false
		}
	}
	if !found {
		r.Result.PlaceholderResolution[t.Key] = nil
		r.Warn("Could not resolve placeholder: " + t.Key)
		return nil, false, nil
	}
	shown := text
	if secret {
		shown, r.secret[t.Key] = routine.Masked, true
	}
	r.Result.PlaceholderResolution[t.Key] = new(r.shorten(shown))
	return text, true, nil
}

const (
	// maxShownText is how many characters placeholder_resolution has of one text.
	maxShownText = 1 << 16
	// maxShownTexts is how many bytes it has of all texts of a run together. They
	// are masked when the run has ended, which nothing can interrupt.
	maxShownTexts = 1 << 20
)

// shorten returns as much of a text as placeholder_resolution has room for. A text
// that is cut ends with "…".
func (r *runner) shorten(text string) string {
	short := routine.Truncate(text, min(maxShownText, max(maxShownTexts-r.shownBytes, 0)))
	r.shownBytes += len(short)
	return short
}

// read returns the text of a storage token. secret reports whether it must not be
// shown.
func (r *runner) read(ctx context.Context, t placeholder.Token) (text string, found, secret bool, err error) {
	switch t.Source {
	case placeholder.SessionStorage:
		text, found, err = placeholder.Lookup(ctx, t.Name, func(key string) (string, bool, error) {
			if text, ok := r.Values[key]; ok {
				return text, true, nil
			}
			return r.Page.Lookup(ctx, routine.FromSessionStorage, key)
		})
	case placeholder.LocalStorage:
		text, found, err = placeholder.Lookup(ctx, t.Name, func(key string) (string, bool, error) {
			return r.Page.Lookup(ctx, routine.FromLocalStorage, key)
		})
	case placeholder.Meta:
		text, found, err = r.Page.Lookup(ctx, routine.FromMeta, t.Name)
	case placeholder.WindowProperty:
		text, found, err = r.Page.Lookup(ctx, routine.FromWindow, t.Name)
	case placeholder.Cookie:
		return r.cookie(ctx, t.Name)
	default:
		err = fmt.Errorf("placeholder source %q", t.Source)
	}
	return text, found, false, err
}

// cookie returns a cookie that the browser would send to the current page, with its
// value decoded if possible.
func (r *runner) cookie(ctx context.Context, name string) (string, bool, bool, error) {
	cookies, err := r.Page.SentCookies(ctx)
	if err != nil {
		return "", false, false, err
	}
	for _, c := range cookies {
		if c.Name != name {
			continue
		}
		r.HideCookies([]routine.Cookie{c})
		plain, err := url.PathUnescape(c.Value)
		if err != nil {
			return c.Value, true, c.HTTPOnly, nil
		}
		return plain, true, c.HTTPOnly, nil
	}
	return "", false, false, nil
}

// hide makes texts secrets of the run from now on.
func (r *runner) hide(texts ...string) {
	var all []string
	size := 0
	for _, text := range texts {
		if size += len(text); size > spelling.Max { // a page can set cookies of megabytes
			all = append(all, text)
		} else if text != "" {
			all = append(all, spelling.All(text)...)
		}
	}
	r.hidden = r.hidden.with(all)
}

// HideCookies makes the values of HttpOnly cookies secrets, as they are and decoded, and returns
// the cookies with those of the session masked.
func (r *runner) HideCookies(cookies []routine.Cookie) []routine.Cookie {
	var texts []string
	shown := slices.Clone(cookies)
	for i, c := range cookies {
		if r.session.owns(c) {
			shown[i].Value = routine.Masked
		}
		if !c.HTTPOnly || c.Value == "" {
			continue
		}
		texts = append(texts, c.Value)
		if plain, err := url.PathUnescape(c.Value); err == nil && plain != c.Value && plain != "" {
			texts = append(texts, plain)
		}
	}
	r.hide(texts...)
	r.hideSessionCookies(cookies)
	return shown
}

// ContainsSecret reports whether text holds a secret.
func (r *runner) ContainsSecret(text string) bool { return r.hidden.text(text) != text }

// ContainsFormattedSecret reports whether text contains a secret that a page has formatted, as
// in "1234 5678" for "12345678".
func (r *runner) ContainsFormattedSecret(text string) bool {
	bare := lettersAndDigits(text)
	return slices.ContainsFunc(r.hidden.texts, func(secret string) bool {
		s := lettersAndDigits(secret)
		return len(s) >= minSecret && strings.Contains(bare, s)
	})
}

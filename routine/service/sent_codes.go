package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

const (
	// sentCodeTime is how long a code that was given can be used.
	sentCodeTime = 5 * time.Minute
	// sentCodeInterval is how often a run that waits for a code looks for one. It may be given
	// to another process.
	sentCodeInterval = 500 * time.Millisecond
)

// sentCode matches a code without the spaces between its parts.
var sentCode = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// MayGiveCode returns nil if p may give one-time codes, so that a front end can refuse a call
// before it reads the code. CodeUnauthenticated, CodeForbidden.
func (s *Service) MayGiveCode(p routine.Principal) error { return may(p, toGiveCode, nil) }

// GiveCode keeps a one-time code that a site has sent by mail or SMS, for the run that waits for
// it or that will within five minutes. text is a JSON object, {"code": "123456"}. The secret is
// the one that runs of p's project use. CodeUnauthenticated, CodeForbidden, CodeInvalid,
// CodeNotFound, CodeSecretUnavailable.
func (s *Service) GiveCode(ctx context.Context, p routine.Principal, via routine.Via, name string, text []byte) error {
	if err := may(p, toGiveCode, nil); err != nil {
		return err
	}
	code, err := readSentCode(text)
	if err != nil {
		return err
	}
	sec, err := s.findSecret(ctx, p, name, nil)
	if err == nil {
		err = s.store.SaveCode(ctx, sec, code, sentCodeTime)
	}
	if err != nil {
		return s.secretError(ctx, "save one-time code", name, err)
	}
	s.recordSecretChange(ctx, p, via, sec, "code given", nil)
	return nil
}

// readSentCode reads the code of a JSON object. Its errors do not contain the code.
func readSentCode(text []byte) (routine.Hidden, error) {
	var given map[string]string
	if !jsontext.Value(text).IsValid() || json.Unmarshal(text, &given) != nil || len(given) != 1 || given["code"] == "" {
		return "", routine.Errorf(routine.CodeInvalid, `the body must be a JSON object with the code alone, as in {"code": "123456"}`)
	}
	code := strings.Join(strings.Fields(given["code"]), "")
	if !sentCode.MatchString(code) {
		return "", routine.Invalid("one-time code", []routine.Problem{{Pointer: "/code", Code: "value",
			Message: "the code must be 1 to 64 letters, digits, - or _; spaces are left out"}})
	}
	return routine.Hidden(code), nil
}

// sentCode returns a code of a secret that a person has given, and waits until there is one.
func (s *Service) sentCode(ctx context.Context, sec *routine.Secret) (routine.Hidden, error) {
	for {
		code, err := s.store.TakeCode(ctx, sec)
		switch {
		case err == nil:
			return code, nil
		case ctx.Err() == nil && !errors.Is(err, routine.ErrNotFound):
			return "", s.secretError(ctx, "take one-time code", sec.Name, err)
		}
		if err := waitForCode(ctx, sentCodeInterval, fmt.Sprintf("a one-time code of secret %s: a person gives it with rote secret code %s", sec.Name, sec.Name)); err != nil {
			return "", err
		}
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/service"
)

type sessionSet struct {
	Name      string   `arg:"" help:"The name of the session, which routines refer to: \"session\": \"NAME\"." placeholder:"NAME"`
	Host      []string `help:"Host whose login it is: host, *.host or host:port; http://host for a site without https. Repeatable." placeholder:"HOST" env:"-"`
	Exclusive *bool    `help:"One run at a time uses it." negatable:"" env:"-"`
	MaxAge    *string  `help:"How long a login is used, as in 12h; 0: as long as the site accepts it." placeholder:"TIME" env:"-"`
	Readable  *bool    `help:"Runs may give the values of cookies that pages cannot read." negatable:"" env:"-"`

	Login          *string           `help:"Stored routine that logs in. It has this session. '' is none." placeholder:"NAME|ID" env:"-"`
	LoginParameter map[string]string `help:"Parameter of the login routine. Not for secrets. Repeatable." placeholder:"NAME=VALUE" mapsep:"none" env:"-"`

	SignedOutURL      *string `name:"signed-out-url" help:"Pages with such a URL show that nobody is logged in, as /login; '' is none." placeholder:"REGEX" env:"-"`
	SignedOutSelector *string `help:"A page with such an element shows that nobody is logged in. '' is none." placeholder:"CSS" env:"-"`
}

// Run creates a session or changes one. The settings whose flags are left out stay as they are.
func (c *sessionSet) Run(ctx context.Context, g *globals, s streams) error {
	if len(c.LoginParameter) > 0 && (c.Login == nil || *c.Login == "") {
		return errors.New("--login-parameter is for the routine of --login: give --login too")
	}
	return openService(ctx, g, s, mayCreate, func(service *service.Service) error {
		p := g.localPrincipal()
		_, err := service.Session(ctx, p, c.Name)
		if routine.CodeOf(err) == routine.CodeNotFound && routine.ValidSecretName(c.Name) && len(c.Host) == 0 {
			return fmt.Errorf("--host is missing: name the hosts that the login is for, as in rote session set %s --host shop.example", c.Name)
		}
		settings := c.settings()
		if err := c.addLogin(ctx, service, p, settings); err != nil {
			return err
		}
		text, err := json.Marshal(settings)
		if err != nil {
			return err
		}
		info, created, err := service.SaveSession(ctx, p, routine.ViaCLI, c.Name, text, onAnyVersion)
		if err != nil {
			return printAllProblems(s, err)
		}
		did := "changed"
		if created {
			did = "created"
		}
		_, err = fmt.Fprintf(s.out, "%s session %s for %s, version %d\n", did, info.Name, strings.Join(info.Hosts, ", "), info.Version)
		return err
	})
}

// settings returns the settings that flags give, without the login.
func (c *sessionSet) settings() map[string]any {
	settings := map[string]any{}
	if len(c.Host) > 0 {
		settings["hosts"] = c.Host
	}
	if c.Exclusive != nil {
		settings["mode"] = routine.SessionShared
		if *c.Exclusive {
			settings["mode"] = routine.SessionExclusive
		}
	}
	if c.MaxAge != nil {
		settings["max_age"] = c.MaxAge
		if *c.MaxAge == "0" {
			settings["max_age"] = nil
		}
	}
	if c.Readable != nil {
		settings["readable"] = *c.Readable
	}
	return settings
}

// addLogin adds the settings login and signed_out. A flag that is empty removes what was set.
func (c *sessionSet) addLogin(ctx context.Context, from *service.Service, p routine.Principal, settings map[string]any) error {
	if c.Login != nil {
		settings["login"] = nil
		if *c.Login != "" {
			r, err := findRoutine(ctx, from, p, *c.Login)
			if err != nil {
				return err
			}
			login := map[string]any{"routine_id": r.ID}
			if len(c.LoginParameter) > 0 {
				login["parameters"] = c.LoginParameter
			}
			settings["login"] = login
		}
	}
	if c.SignedOutURL == nil && c.SignedOutSelector == nil {
		return nil
	}
	test := service.SignedOut{}
	info, err := from.Session(ctx, p, c.Name)
	switch {
	case err != nil && routine.CodeOf(err) != routine.CodeNotFound:
		return err
	case err == nil && info.SignedOut != nil:
		test = *info.SignedOut
	}
	if c.SignedOutURL != nil {
		test.URLRegex = *c.SignedOutURL
	}
	if c.SignedOutSelector != nil {
		test.Selector = *c.SignedOutSelector
	}
	settings["signed_out"] = nil
	if test != (service.SignedOut{}) {
		settings["signed_out"] = test
	}
	return nil
}

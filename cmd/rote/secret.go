package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"rote/routine"
	"rote/routine/service"
)

type secretCommand struct {
	Set    secretSet    `cmd:"" help:"Store a password, a key or a login. Its values are asked for, or read from standard input, one per line."`
	Code   secretCode   `cmd:"" help:"Give a one-time code that came by mail or SMS to the run that waits for it. It is asked for, or read from standard input."`
	List   secretList   `cmd:"" help:"List the secrets, without their values."`
	Show   secretShow   `cmd:"" help:"Print everything about a secret but its values."`
	Test   secretTest   `cmd:"" help:"Check that the values of a secret can be read, without showing them, and which hosts a routine needs."`
	Uses   secretUses   `cmd:"" help:"List who used or changed a secret, newest first."`
	Remove secretRemove `cmd:"" help:"Delete a secret with its values."`
}

type secretSet struct {
	Name        string   `arg:"" help:"The name of the secret, which routines refer to: {{secret:NAME}} or {{secret:NAME.FIELD}}." placeholder:"NAME"`
	Host        []string `help:"Host that may receive it: host, *.host or host:port; http://host for a site without https. Repeatable." placeholder:"HOST" env:"-"`
	Field       []string `help:"Field with a value, as username or password. Repeatable. Without any, the secret is a single value." placeholder:"FIELD" env:"-"`
	TOTP        bool     `name:"totp" help:"Also give the key of one-time codes, {{totp:NAME}}: an otpauth:// URI or base32." env:"-"`
	Ref         []string `help:"Read a field from env:NAME, file:NAME, vault:PATH#FIELD or op://… when it is used. Repeatable." placeholder:"FIELD=REF" env:"-"`
	AnyField    *bool    `help:"It may be typed into any field of a page, not only into password fields." negatable:"" env:"-"`
	Requests    *bool    `help:"It may also be sent in requests (fetch, download)." negatable:"" env:"-"`
	Confine     *bool    `help:"A run that has used it reaches only its hosts from then on." negatable:"" env:"-"`
	Routine     []string `help:"Only this routine may use it. Repeatable." placeholder:"NAME|ID" env:"-"`
	Description *string  `help:"What the secret is for." placeholder:"TEXT" env:"-"`
	Shared      bool     `name:"organization-wide" help:"For all projects of the organization, not only for --project." env:"-"`
}

// Run creates a secret or changes one. The settings whose flags are left out stay as they are.
func (c *secretSet) Run(ctx context.Context, g *globals, s streams) error {
	if !routine.ValidSecretName(c.Name) {
		return fmt.Errorf("%s cannot be the name of a secret: a name is a letter, then up to 63 letters, digits, _ or -", routine.Quote(c.Name))
	}
	references, err := c.references()
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return err
	}
	return openService(ctx, g, s, mayCreate, func(service *service.Service) error {
		p := g.localPrincipal()
		before, err := service.Secret(ctx, p, c.Name, new(!c.Shared))
		if err != nil && routine.CodeOf(err) != routine.CodeNotFound {
			return err
		}
		if before == nil && len(c.Host) == 0 {
			return fmt.Errorf("--host is missing: name the hosts that may receive the secret, as in rote secret set %s --host shop.example", c.Name)
		}
		settings, err := c.settings(ctx, service, p)
		if err != nil {
			return err
		}
		if len(references) > 0 {
			settings["references"] = references
		}
		if err := c.addValues(settings, c.fieldsToGive(before, references), s); err != nil {
			return err
		}
		text, err := json.Marshal(settings)
		if err != nil {
			return err
		}
		info, created, err := service.SaveSecret(ctx, p, routine.ViaCLI, c.Name, text, onAnyVersion)
		if err != nil {
			return printAllProblems(s, err)
		}
		did := "changed"
		if created {
			did = "created"
		}
		_, err = fmt.Fprintf(s.out, "%s secret %s for %s, version %d\n", did, info.Name, strings.Join(info.Hosts, ", "), info.Version)
		return err
	})
}

// check checks what the flags say before any value is asked for.
func (c *secretSet) check() error {
	for _, host := range c.Host {
		if _, err := routine.ParseSecretHost(host); err != nil {
			return fmt.Errorf("--host: %w", err)
		}
	}
	for i, field := range c.Field {
		switch {
		case field == totpField:
			return errors.New("--field totp: give the key of one-time codes with --totp")
		case !routine.ValidSecretName(field):
			return fmt.Errorf("--field %s: the name of a field is a letter, then up to 63 letters, digits, _ or -", routine.Quote(field))
		case slices.Contains(c.Field[:i], field):
			return fmt.Errorf("--field names %s twice", field)
		}
	}
	return nil
}

// references returns the references of --ref by field.
func (c *secretSet) references() (map[string]string, error) {
	all := map[string]string{}
	for _, text := range c.Ref {
		field, ref, ok := strings.Cut(text, "=")
		if !ok || field == "" {
			return nil, fmt.Errorf("--ref %s: write FIELD=REFERENCE, as in --ref password=env:SHOP_PASSWORD", text)
		}
		if slices.Contains(c.Field, field) {
			return nil, fmt.Errorf("--ref and --field both name %s: a field has a value or a reference", field)
		}
		if field == totpField && c.TOTP {
			return nil, errors.New("--totp and --ref totp exclude each other: a field has a value or a reference")
		}
		if wrong := routine.CheckReference(ref); wrong != "" {
			return nil, fmt.Errorf("--ref %s: the reference %s", text, wrong)
		}
		all[field] = ref
	}
	return all, nil
}

// settings returns the settings that flags give.
func (c *secretSet) settings(ctx context.Context, from *service.Service, p routine.Principal) (map[string]any, error) {
	settings := map[string]any{"project": !c.Shared}
	if len(c.Host) > 0 {
		settings["hosts"] = c.Host
	}
	if c.AnyField != nil {
		settings["field_rule"] = routine.FieldPassword
		if *c.AnyField {
			settings["field_rule"] = routine.FieldAny
		}
	}
	if c.Requests != nil {
		settings["requests"] = *c.Requests
	}
	if c.Confine != nil {
		settings["confine"] = *c.Confine
	}
	if c.Description != nil {
		settings["description"] = *c.Description
	}
	var ids []string
	for _, name := range c.Routine {
		r, err := findRoutine(ctx, from, p, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.ID)
	}
	if len(ids) > 0 {
		settings["routines"] = ids
	}
	return settings, nil
}

// fieldsToGive returns the names of the fields whose values are asked for. If flags change
// where a stored secret may go, these are all of its fields.
func (c *secretSet) fieldsToGive(before *service.SecretInfo, references map[string]string) []string {
	fields := slices.Clone(c.Field)
	if c.TOTP {
		fields = append(fields, totpField)
	}
	none := len(fields) == 0 && len(references) == 0
	rules := len(c.Host) > 0 || c.AnyField != nil || c.Requests != nil || c.Confine != nil || len(c.Routine) > 0
	switch {
	case before == nil && none:
		return []string{routine.ValueField}
	case before == nil || none && !rules && c.Description != nil:
		return fields
	}
	if none || rules {
		for _, f := range before.Fields {
			if f.Source == "stored" && !slices.Contains(fields, f.Name) && references[f.Name] == "" {
				fields = append(fields, f.Name)
			}
		}
	}
	return fields
}

// onAnyVersion lets a change be made to any version of a secret, also to none.
var onAnyVersion service.PutCondition

// totpField is the field with the key of one-time codes.
const totpField = "totp"

// addValues asks for the values of fields and adds them to the settings.
func (c *secretSet) addValues(settings map[string]any, fields []string, s streams) error {
	values, err := askSecrets(c.Name, fields, s)
	if err != nil || len(values) == 0 {
		return err
	}
	given := map[string]string{}
	for name, value := range values {
		if name == totpField {
			settings["totp"] = value
			continue
		}
		given[name] = value
	}
	if len(given) > 0 {
		settings["fields"] = given
	}
	return nil
}

type secretCode struct {
	Name string `arg:"" help:"The name of the secret for which the run waits, as in {{code:NAME}}." placeholder:"NAME"`
}

// Run keeps a code for five minutes, until a run uses it.
func (c *secretCode) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		if _, err := service.Secret(ctx, g.localPrincipal(), c.Name, nil); err != nil {
			return withSecretList(err)
		}
		values, err := askSecrets(c.Name, []string{routine.SentCodeField}, s)
		if err != nil {
			return err
		}
		text, err := json.Marshal(values)
		if err != nil {
			return err
		}
		return withSecretList(service.GiveCode(ctx, g.localPrincipal(), routine.ViaCLI, c.Name, text))
	})
}

type secretList struct {
	JSON bool `name:"json" help:"Print the secrets as a JSON array." env:"-"`
}

// Run lists the secrets of the project and of its organization, by name.
func (c *secretList) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		list, total, err := service.Secrets(ctx, g.localPrincipal(), maxListedSecrets, 0)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(s.out, list)
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tFIELDS\tHOSTS\tFOR\tVERSION\tUPDATED\tDESCRIPTION")
		for _, info := range list {
			belongs := "organization"
			if info.Project {
				belongs = "project"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", info.Name, fieldList(info), strings.Join(info.Hosts, " "), belongs, info.Version,
				info.UpdatedAt.UTC().Format(time.DateTime), cmp.Or(tableCell(info.Description), "-"))
		}
		printOmitted(s, len(list), total)
		return w.Flush()
	})
}

// maxListedSecrets is how many secrets a list shows at most.
const maxListedSecrets = 1000

// fieldList names the fields of a secret, each with the scheme of its provider if it has one.
func fieldList(info *service.SecretInfo) string {
	var names []string
	for _, f := range info.Fields {
		name := f.Name
		if f.Source != "stored" {
			name += "=" + f.Source + ":"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

type secretShow struct {
	Name string `arg:"" help:"The name of a secret." placeholder:"NAME"`
}

// Run prints a secret as JSON, without its values.
func (c *secretShow) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		info, err := service.Secret(ctx, g.localPrincipal(), c.Name, nil)
		if err != nil {
			return withSecretList(err)
		}
		return printJSON(s.out, info)
	})
}

type secretUses struct {
	Name   string `arg:"" help:"The name of a secret." placeholder:"NAME"`
	Shared *bool  `name:"organization-wide" help:"Of the organization's secret; with --no- that of the project. Also deleted ones." negatable:"" env:"-"`
	Limit  count  `help:"How many uses at most (100)." placeholder:"N" env:"-"`
	JSON   bool   `name:"json" help:"Print the uses as a JSON array." env:"-"`
}

// Run lists who used or changed a secret.
func (c *secretUses) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		var project *bool
		if c.Shared != nil {
			project = new(!*c.Shared)
		}
		uses, total, err := service.SecretUses(ctx, g.localPrincipal(), c.Name, project, cmp.Or(int(c.Limit), 100), 0)
		if err != nil {
			return withSecretList(err)
		}
		return printUses(s, uses, total, c.JSON)
	})
}

// printUses prints uses of a secret or a session, as a table or as JSON.
func printUses(s streams, uses []service.SecretUseInfo, total int, asJSON bool) error {
	if asJSON {
		return printJSON(s.out, uses)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AT\tWHAT\tFIELD\tOUTCOME\tHOST\tEXECUTION\tOPERATION\tUSER\tREASON")
	for _, u := range uses {
		operation := "-"
		if u.Operation > 0 {
			operation = fmt.Sprint(u.Operation)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", u.At.UTC().Format(time.DateTime), u.What, cmp.Or(u.Field, "-"), u.Outcome, cmp.Or(u.Host, "-"),
			cmp.Or(u.ExecutionID, "-"), operation, cmp.Or(tableCell(u.UserID), "-"), cmp.Or(tableCell(u.Reason), "-"))
	}
	printOmitted(s, len(uses), total)
	return w.Flush()
}

type secretRemove struct {
	Name   string `arg:"" help:"The name of a secret." placeholder:"NAME"`
	Shared bool   `name:"organization-wide" help:"The secret of the whole organization." env:"-"`
}

// Run deletes a secret. The record of its uses stays.
func (c *secretRemove) Run(ctx context.Context, g *globals, s streams) error {
	return withDatabase(ctx, g, s, func(service *service.Service) error {
		if err := service.DeleteSecret(ctx, g.localPrincipal(), routine.ViaCLI, c.Name, !c.Shared); err != nil {
			return withSecretList(err)
		}
		_, err := fmt.Fprintf(s.out, "removed secret %s\n", c.Name)
		return err
	})
}

// withSecretList adds to the error of an unknown secret where the names are.
func withSecretList(err error) error {
	if routine.CodeOf(err) == routine.CodeNotFound {
		return fmt.Errorf("%w: rote secret list shows the secrets", err)
	}
	return err
}

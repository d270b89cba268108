package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// cli is the command line. Flags win over the environment, which wins over the
// file of --config, which wins over defaults.
type cli struct {
	Config configFile `help:"YAML file of flag values, each under its name; what is for one command only, under the command's." placeholder:"FILE"`
	// Named otherwise than the command.
	ShowVersion versionFlag `name:"version" help:"Print the version." env:"-"`
	globals

	Demo     demoCommand     `cmd:"" help:"Run a routine on a practice site, over REST and MCP, and show where the time goes."`
	Serve    serveCommand    `cmd:"" help:"Serve REST, and MCP over HTTP, on one listener."`
	MCP      mcpCommand      `cmd:"" name:"mcp" help:"Serve MCP over standard input and output."`
	Run      runCommand      `cmd:"" help:"Run a routine once and print its data."`
	Validate validateCommand `cmd:"" help:"Check routine files."`

	Add        addCommand        `cmd:"" help:"Store routine files: new routines, or next versions of those with the same name."`
	List       listCommand       `cmd:"" help:"List the stored routines."`
	Show       showCommand       `cmd:"" help:"Print a stored routine."`
	Executions executionsCommand `cmd:"" help:"List past and present executions, or print one."`

	Token   tokenCommand   `cmd:"" help:"Manage service tokens."`
	Webhook webhookCommand `cmd:"" help:"Show what webhooks are signed with."`
	Browser browserCommand `cmd:"" help:"Find, install or check the browser."`
	Backup  backupCommand  `cmd:"" help:"Copy the database, also while it is in use."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// configFile names a YAML file of flag values.
type configFile string

// globals are the flags that every command takes.
type globals struct {
	DB           string   `name:"db" help:"SQLite file (rote.db in the user's data directory)." placeholder:"FILE"`
	StateKey     string   `help:"File with the key that the browser state of projects is encrypted with (the database's name and .key); made when it is not there." placeholder:"FILE"`
	BrowserPath  string   `name:"browser" help:"Browser executable (headless shell, else Chromium or Chrome, where found)." placeholder:"FILE"`
	Concurrency  count    `help:"Runs at once (2 × cores)." placeholder:"N"`
	Queue        number   `help:"Runs that wait for their turn, of one organization at most half of them; beyond, callers are told to come back." default:"100"`
	Egress       string   `help:"What runs may reach: public (the internet and what is allowed), listed (what is allowed) or any." default:"public" enum:"public,listed,any"`
	AllowHost    []string `help:"Host that runs may reach: host, *.host, host:port or CIDR. Repeatable." placeholder:"HOST"`
	DenyHost     []string `help:"Host that runs may not reach; wins over --allow-host. Repeatable." placeholder:"HOST"`
	MaxTraffic   size     `help:"Most bytes that one run may send and receive." default:"1GiB"`
	MaxMemory    size     `help:"Most memory of one page's process (Linux)." default:"2GiB"`
	User         string   `help:"The local user: of mcp, run and demo." default:"local"`
	Organization string   `help:"The local user's organization." default:"default"`
	Project      string   `help:"The local user's project." default:"default"`
	MaxBody      size     `help:"Largest request body." default:"4MiB"`
	MaxResult    size     `help:"Largest data of one run." default:"32MiB"`
}

// checkNames refuses a local user without a name: an empty organization would
// stand for no organization, whose routines are the public ones of all others.
func (g *globals) checkNames() error {
	for flag, value := range map[string]string{"--user": g.User, "--organization": g.Organization, "--project": g.Project} {
		if value == "" {
			return fmt.Errorf("%s must not be empty: leave it out for the default", flag)
		}
	}
	return nil
}

// command is one subcommand.
type command interface {
	Run(ctx context.Context, g *globals, s streams) error
}

// errHelp: the user asked for help and has it.
var errHelp = errors.New("help")

// exit unwinds kong's parser, which ends the program on --help.
type exit int

// parse reads the command line.
func parse(args []string, s streams) (c command, g *globals, err error) {
	for i, arg := range args {
		if !utf8.ValidString(arg) { // kong would replace bytes of it in lists
			return nil, nil, fmt.Errorf("argument %d is not UTF-8 text", i+1)
		}
	}
	var flags cli
	defer func() {
		if _, ok := recover().(exit); ok {
			err = errHelp
		}
	}()
	parser, err := newParser(&flags, s)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		var p *kong.ParseError
		if errors.As(err, &p) && len(args) == 0 {
			_ = p.Context.PrintUsage(true)
			return nil, nil, errHelp
		}
		return nil, nil, fmt.Errorf("%w (see rote --help)", err)
	}
	if err := flags.checkNames(); err != nil {
		return nil, nil, err
	}
	selected, ok := parsed.Selected().Target.Addr().Interface().(command)
	if !ok {
		return nil, nil, fmt.Errorf("%s is no command", strings.Join(args, " "))
	}
	warnOfUnknownVariables(s.err, parser.Model.Node)
	return selected, &flags.globals, nil
}

// newParser makes the parser that fills in flags.
func newParser(flags *cli, s streams) (*kong.Kong, error) {
	return kong.New(flags, kong.Name("rote"), kong.Description("Teach an agent a web task once, and it does it by rote."),
		kong.Writers(s.out, s.err), kong.Exit(func(code int) { panic(exit(code)) }), kong.DefaultEnvars("ROTE"),
		kong.Resolvers(kong.ResolverFunc(environment)), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
}

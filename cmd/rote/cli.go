package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// cli is the command line. Flags override the environment, which overrides the
// file of --config, which overrides defaults.
type cli struct {
	Config configFile `help:"YAML file of flag values by name. Flags of one command may be under the command's name." placeholder:"FILE"`
	// Its name differs from that of the field of the command.
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
	Webhook webhookCommand `cmd:"" help:"Show the secret that webhooks are signed with."`
	Browser browserCommand `cmd:"" help:"Find, install or check the browser."`
	Backup  backupCommand  `cmd:"" help:"Copy the database, also while it is in use."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// configFile is the path of a YAML file of flag values.
type configFile string

// globals are the flags of all commands.
type globals struct {
	DB           string   `name:"db" help:"SQLite file (rote.db in the user's data directory)." placeholder:"FILE"`
	StateKey     string   `help:"Key file for the browser state of projects, created on first use (DB.key)." placeholder:"FILE"`
	BrowserPath  string   `name:"browser" help:"Browser executable (headless shell, else Chromium or Chrome, where found)." placeholder:"FILE"`
	Concurrency  count    `help:"Runs at once (2 × cores)." placeholder:"N"`
	Queue        number   `help:"Runs that may wait, half of them of one organization; more fail as busy." default:"100"`
	Egress       string   `help:"What runs may reach: public (internet and allowed hosts), listed (allowed hosts), any." default:"public" enum:"public,listed,any"`
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

// checkNames rejects an empty name of the local user. An empty organization
// would mean no organization, which sees only the public routines of all
// others.
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

// errHelp means that help has been printed.
var errHelp = errors.New("help")

// exit is the panic value that ends kong's parser, which exits the program on
// --help.
type exit int

// parse parses the command line.
func parse(args []string, s streams) (c command, g *globals, err error) {
	for i, arg := range args {
		if !utf8.ValidString(arg) { // kong would replace invalid bytes in lists
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

// newParser returns a parser that fills in flags.
func newParser(flags *cli, s streams) (*kong.Kong, error) {
	return kong.New(flags, kong.Name("rote"), kong.Description("Teach an agent a web task once, and it does it by rote."),
		kong.Writers(s.out, s.err), kong.Exit(func(code int) { panic(exit(code)) }), kong.DefaultEnvars("ROTE"),
		kong.Resolvers(kong.ResolverFunc(environmentResolver)), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
}

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
	Worker   workerCommand   `cmd:"" help:"Do asynchronous and scheduled runs of a Postgres database, without REST and MCP."`
	MCP      mcpCommand      `cmd:"" name:"mcp" help:"Serve MCP over standard input and output."`
	Run      runCommand      `cmd:"" help:"Run a routine once and print its data."`
	Teach    teachCommand    `cmd:"" help:"Make a routine by doing its task once on a live page."`
	Record   recordCommand   `cmd:"" help:"Make a routine by doing its task once in a window."`
	Import   importCommand   `cmd:"" help:"Make a routine of a recording of another tool."`
	Export   exportCommand   `cmd:"" help:"Write a routine in the format of another tool."`
	Validate validateCommand `cmd:"" help:"Check routine files."`

	Add        addCommand        `cmd:"" help:"Store routine files: new routines, or next versions of those with the same name."`
	List       listCommand       `cmd:"" help:"List the stored routines."`
	Show       showCommand       `cmd:"" help:"Print a stored routine."`
	Mend       mendCommand       `cmd:"" help:"Find what could take the place of an operation that no longer works."`
	Schedule   scheduleCommand   `cmd:"" help:"Run stored routines at the times of cron expressions."`
	Executions executionsCommand `cmd:"" help:"List past and present executions, or print one."`

	Login   loginCommand   `cmd:"" help:"Log in to a site in a window, and save the login for routines."`
	Secret  secretCommand  `cmd:"" help:"Store passwords, keys and logins that routines use and nobody can read."`
	Session sessionCommand `cmd:"" help:"Save logins that routines use."`
	Token   tokenCommand   `cmd:"" help:"Manage service tokens."`
	Webhook webhookCommand `cmd:"" help:"Show the secret that webhooks are signed with."`
	Browser browserCommand `cmd:"" help:"Find, install or check the browser."`
	Key     keyCommand     `cmd:"" help:"Make, list and change the keys that encrypt browser states and secrets."`
	Doctor  doctorCommand  `cmd:"" help:"Examine what a server needs here, and say what to do about what is missing."`
	Migrate migrateCommand `cmd:"" help:"Update the schema of a Postgres database."`
	Backup  backupCommand  `cmd:"" help:"Copy the database, also while it is in use."`
	Restore restoreCommand `cmd:"" help:"Make the database from a backup."`
	Prune   pruneCommand   `cmd:"" help:"Delete now the executions that are not kept any longer."`
	Copy    copyCommand    `cmd:"" help:"Copy a SQLite file into an empty Postgres database."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// configFile is the path of a YAML file of flag values.
type configFile string

// globals are the flags of all commands.
type globals struct {
	DB            string `name:"db" help:"SQLite file (rote.db in the user's data directory), or postgres://USER@HOST/DATABASE." placeholder:"FILE"`
	DBDirect      string `name:"db-direct" help:"Address of the same database without the connection pooler of --db." placeholder:"URL"`
	DBConnections count  `name:"db-connections" help:"Most connections to Postgres for queries; three more are for signs of life and notifications." default:"4"`
	Migrate       string `help:"auto: update the schema of Postgres at the start. off: refuse an old one." default:"auto" enum:"auto,off"`
	StateKey      string `help:"Key file for browser states and secrets, or env:NAME; with SQLite, DB.key is made on first use." placeholder:"FILE"`

	secretProviderFlags `embed:""`

	BrowserPath  string   `name:"browser" help:"Browser executable (headless shell, else Chromium or Chrome, where found)." placeholder:"FILE"`
	BrowserURL   []string `name:"browser-url" help:"Running browser to connect to: http://HOST:9222#slots=4, ws://…, or local. Repeatable." placeholder:"URL"`
	Concurrency  count    `help:"Runs at once (2 × cores, or the slots of --browser-url)." placeholder:"N"`
	Queue        number   `help:"Runs that may wait, half of them of one organization; more fail as busy." default:"100"`
	Egress       string   `help:"What runs may reach: public (internet and allowed hosts), listed (allowed hosts), any." default:"public" enum:"public,listed,any"`
	AllowHost    []string `help:"Host that runs may reach: host, *.host, host:port or CIDR. Repeatable." placeholder:"HOST"`
	DenyHost     []string `help:"Host that runs may not reach; wins over --allow-host. Repeatable." placeholder:"HOST"`
	EgressListen string   `help:"Listener through which browsers that rote did not start reach the network." placeholder:"ADDR"`
	// EgressAddress is empty for that of EgressListen.
	EgressAddress string `help:"--egress-listen as these browsers see it." placeholder:"HOST:PORT"`
	// BrowserUnverified is [browser.Config.Unverified].
	BrowserUnverified bool   `help:"Use browsers that rote did not start also if they are not verified to confine their pages; marks the results."`
	MaxTraffic        size   `help:"Most bytes that one run may send and receive." default:"1GiB"`
	MaxMemory         size   `help:"Most memory of one page's process (Linux)." default:"2GiB"`
	User              string `help:"The local user: of mcp, run and demo." default:"local"`
	Organization      string `help:"The local user's organization." default:"default"`
	Project           string `help:"The local user's project." default:"default"`
	MaxBody           size   `help:"Largest request body." default:"4MiB"`
	MaxResult         size   `help:"Largest data of one run." default:"32MiB"`
	AuditLog          string `help:"File that gets a line of JSON for each change and each refusal, or stderr." placeholder:"FILE"`
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

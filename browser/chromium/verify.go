package chromium

import (
	"fmt"
	"slices"
	"strings"
)

// FlagFaults says in what the command line of a Chromium that somebody else has started differs
// from what runs need.
type FlagFaults struct {
	// Unknown reports whether the browser does not tell its command line.
	Unknown bool
	// Missing are the flags that it lacks, with the values that they need. Without them pages
	// get past the proxies of their runs, or share processes with pages of other sites.
	Missing []string
	// Forbidden are flags that it has and that take away what keeps pages apart.
	Forbidden []string
	// Weakened are flags and features that make pages less confined than they could be, and
	// with which runs are still possible.
	Weakened []string
	// NoSandbox reports whether its sandbox, or a layer of it, is off.
	NoSandbox bool
}

// Err is the error for a browser that may not be used because of its flags; nil if there is no
// reason. proxyHost is the one of [CheckFlags].
func (f FlagFaults) Err(proxyHost string) error {
	var faults []string
	if f.Unknown {
		faults = append(faults, "it does not tell with which flags it was started")
	}
	if len(f.Missing) > 0 {
		faults = append(faults, "it lacks the flags that confine it: "+quoteAll(f.Missing))
	}
	if len(f.Forbidden) > 0 {
		faults = append(faults, "it has flags that it may not have: "+quoteAll(f.Forbidden))
	}
	if faults == nil {
		return nil
	}
	command := "rote browser flags"
	if proxyHost != localProxyHost {
		command += " --proxy " + proxyHost
	}
	return fmt.Errorf("%s. Start it with what \"%s\" prints, and without the flags that it may not have", strings.Join(faults, ", and "), command)
}

func quoteAll(flags []string) string {
	quoted := make([]string, len(flags))
	for i, f := range flags {
		quoted[i] = "'" + f + "'"
	}
	return strings.Join(quoted, ", ")
}

// forbiddenFlags take away what keeps pages apart or behind their proxy, or make TLS worthless.
// Those with a value are forbidden with a list that has that value in it.
var forbiddenFlags = []string{
	"--disable-web-security", "--disable-site-isolation-trials", "--single-process", "--load-extension", "--remote-allow-origins=*",
	"--no-proxy-server", "--proxy-auto-detect", "--proxy-pac-url", "--host-rules", "--allow-file-access-from-files",
	"--ignore-certificate-errors", "--ignore-certificate-errors-spki-list",
}

// sandboxFlags turn off the sandbox or a layer of it.
var sandboxFlags = []string{"--no-sandbox", "--disable-namespace-sandbox", "--disable-seccomp-filter-sandbox"}

// weakeningFeatures are features that protect a private network and may be turned off.
var weakeningFeatures = []string{"LocalNetworkAccessChecks", "BlockInsecurePrivateNetworkRequests"}

// CheckFlags checks the command line of a running Chromium, as it reports it itself. Its pages
// reach the proxies of their runs at proxyHost.
func CheckFlags(commandLine, proxyHost string) FlagFaults {
	var faults FlagFaults
	has, last := parseCommandLine(commandLine)
	for _, flag := range confiningFlags(proxyHost) {
		name, want, _ := strings.Cut(flag, "=")
		value, found := has[name]
		if !found || !sameRules(value, want) && (name != last || !hasArguments(value, want)) {
			faults.Missing = append(faults.Missing, flag)
		}
	}
	for _, flag := range forbiddenFlags {
		name, value, _ := strings.Cut(flag, "=")
		if got, found := has[name]; found && (value == "" || slices.Contains(splitList(got), value)) {
			faults.Forbidden = append(faults.Forbidden, flag)
		}
	}
	for feature := range strings.SplitSeq(has["--disable-features"], ",") {
		if feature = strings.TrimSpace(feature); slices.Contains(weakeningFeatures, feature) {
			faults.Weakened = append(faults.Weakened, "--disable-features="+feature)
		}
	}
	faults.NoSandbox = slices.ContainsFunc(sandboxFlags, func(flag string) bool { _, found := has[flag]; return found })
	return faults
}

// sameRules reports whether two values of a flag are the same list, whatever the order of the
// entries and the spaces between them.
func sameRules(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values(splitList(a))), slices.Sorted(slices.Values(splitList(b))))
}

// hasArguments reports whether the value of the last flag is the wanted one with arguments of
// the command line behind it, such as the page to start with. In a list they would be entries.
func hasArguments(value, want string) bool {
	arguments, found := strings.CutPrefix(value, want+" ")
	return found && want != "" && !strings.ContainsAny(arguments, ",;")
}

// splitList returns the entries of a list with commas, with single spaces in each.
func splitList(list string) []string {
	var all []string
	for entry := range strings.SplitSeq(list, ",") {
		all = append(all, strings.Join(strings.Fields(entry), " "))
	}
	return all
}

// parseCommandLine returns the flags of a command line in the form in which Chromium reports
// it, with their values: all flags first, each with two dashes, separated by spaces and
// without quotes, and then the other arguments, which are part of the value of the last flag. Of
// a flag that is repeated the last counts.
func parseCommandLine(line string) (flags map[string]string, last string) {
	line, _, _ = strings.Cut(line+" ", " -- ") // what follows are no flags
	line = strings.TrimSuffix(strings.TrimSpace(line), " about:blank")
	flags = map[string]string{}
	_, line, _ = strings.Cut(line, " --") // the executable
	for part := range strings.SplitSeq(line, " --") {
		name, value, _ := strings.Cut(part, "=")
		name, _, _ = strings.Cut(strings.TrimSpace(name), " ")
		last = "--" + name
		flags[last] = strings.TrimSpace(value)
	}
	return flags, last
}

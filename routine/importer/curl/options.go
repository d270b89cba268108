package curl

// What an option does to the request, or why it does nothing.
type effect int

const (
	silent   effect = iota // it changes nothing that a routine has
	header                 // not sent by pages
	insecure               // certificates are checked
	transport
	multipart
	file
	method
	data
	rawData
	urlData
	jsonData
	query
	asQuery
	headerLine
	user
	cookie
	head
	output
	remoteName
	address
	digest
)

// option is an option of curl: what it does, and whether a value follows.
type option struct {
	effect effect
	value  bool
}

// options are the options by their long names; letters are the short ones.
var options = map[string]option{
	"request": {method, true}, "data": {data, true}, "data-ascii": {data, true}, "data-binary": {data, true}, "data-raw": {rawData, true},
	"data-urlencode": {urlData, true}, "json": {jsonData, true}, "url-query": {query, true}, "get": {asQuery, false}, "header": {headerLine, true},
	"user": {user, true}, "cookie": {cookie, true}, "cookie-jar": {cookie, true}, "head": {head, false}, "user-agent": {header, true},
	"referer": {header, true}, "form": {multipart, true}, "form-string": {multipart, true}, "upload-file": {file, true}, "config": {file, true},
	"output": {output, true}, "remote-name": {remoteName, false}, "remote-header-name": {silent, false}, "url": {address, true},
	"digest": {digest, false}, "ntlm": {digest, false}, "negotiate": {digest, false}, "basic": {silent, false}, "anyauth": {digest, false},
	"aws-sigv4": {digest, true}, "oauth2-bearer": {user, true},
	"insecure": {insecure, false}, "proxy": {transport, true}, "resolve": {transport, true}, "cert": {transport, true}, "key": {transport, true},
	"cacert": {transport, true}, "unix-socket": {transport, true}, "interface": {transport, true}, "connect-to": {transport, true},
	"noproxy": {transport, true}, "proxy-user": {transport, true}, "socks5": {transport, true}, "preproxy": {transport, true},
	"max-time": {silent, true}, "connect-timeout": {silent, true}, "retry": {silent, true}, "retry-delay": {silent, true},
	"retry-max-time": {silent, true}, "write-out": {silent, true}, "dump-header": {silent, true}, "stderr": {silent, true}, "trace": {silent, true},
	"trace-ascii": {silent, true}, "max-redirs": {silent, true}, "limit-rate": {silent, true}, "ciphers": {silent, true}, "tls-max": {silent, true},
	"range": {header, true}, "expect100-timeout": {silent, true}, "keepalive-time": {silent, true}, "speed-time": {silent, true},
	"speed-limit": {silent, true}, "netrc-file": {file, true},
}

// letters are the long names of the short options.
var letters = map[byte]string{'X': "request", 'd': "data", 'G': "get", 'H': "header", 'u': "user", 'b': "cookie", 'c': "cookie-jar", 'I': "head",
	'A': "user-agent", 'e': "referer", 'F': "form", 'T': "upload-file", 'K': "config", 'o': "output", 'O': "remote-name", 'J': "remote-header-name",
	'k': "insecure", 'x': "proxy", 'E': "cert", 'm': "max-time", 'w': "write-out", 'D': "dump-header", 'r': "range", 'y': "speed-time",
	'Y': "speed-limit", 'U': "proxy-user"}

// flags are the short and long options without a value that change nothing that a routine has.
const flags = "LsSvifgqNZaBjlMnpRtz0123456#:"

// silentNames are the long names of options without a value that change nothing that a routine has.
var silentNames = map[string]bool{"location": true, "silent": true, "show-error": true, "compressed": true, "verbose": true, "include": true,
	"fail": true, "fail-with-body": true, "globoff": true, "http1.0": true, "http1.1": true, "http2": true, "http2-prior-knowledge": true,
	"http3": true, "progress-bar": true, "ipv4": true, "ipv6": true, "keepalive": true, "no-buffer": true, "buffer": true, "location-trusted": true,
	"parallel": true, "tcp-nodelay": true, "path-as-is": true, "create-dirs": true, "netrc": true, "tlsv1.2": true, "tlsv1.3": true, "retry-all-errors": true,
	"retry-connrefused": true, "styled-output": true, "progress-meter": true, "disable": true, "raw": true, "sslv3": true, "post301": true, "post302": true}

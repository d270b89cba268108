package console

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// parameter is a value of a call as it is stored: Masked if it is secret.
type parameter struct {
	Name, Text      string
	Masked, Clipped bool
}

// maxParameterBytes limits what the page shows of one parameter.
const maxParameterBytes = 4 << 10

// readParameters returns the stored values of a call in their order, each in at most a number
// of bytes of HTML.
func readParameters(text []byte, most int) []parameter {
	var all []parameter
	eachParameter(text, func(name string, v jsontext.Value) {
		p := parameter{Name: name, Masked: isMasked(v)}
		p.Text, p.Clipped = plainText(v, most)
		all = append(all, p)
	})
	return all
}

// isMasked reports whether a stored value stands for a secret one.
func isMasked(v jsontext.Value) bool { return string(v) == `"`+routine.Masked+`"` }

// eachParameter calls add for each member of a JSON object, and not at all if it is none.
func eachParameter(text []byte, add func(name string, v jsontext.Value)) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), lenientJSON...)
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return
		}
		name := token.String()
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		add(name, v)
	}
}

// maxCurlBytes limits the parameters of a call that is offered as a command.
const maxCurlBytes = 16 << 10

// curl returns a command for a shell that starts the same run through the REST API of the
// address at which the person sees the console. For a secret value, which is not stored, it
// has the parameter's name in angle brackets. It is empty if the definition was not saved or
// the parameters are too large.
func (q *request) curl(e *routine.Execution) string {
	if e.RoutineID == "" || len(e.Parameters) > maxCurlBytes {
		return ""
	}
	var members []string
	eachParameter(e.Parameters, func(name string, v jsontext.Value) {
		text := string(v)
		if isMasked(v) {
			text = routine.JSONText("<" + name + ">")
		}
		members = append(members, routine.JSONText(name)+":"+text)
	})
	return "curl " + shellQuote(q.address()+"/routines/"+e.RoutineID+"/execute") +
		` -H "Authorization: Bearer $ROTE_TOKEN" -H 'Content-Type: application/json' -d ` +
		shellQuote(`{"parameters":{`+strings.Join(members, ",")+`}}`)
}

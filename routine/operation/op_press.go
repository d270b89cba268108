package operation

import (
	"context"
	"errors"
	"strings"

	"rote/routine"
	"rote/routine/keyboard"
)

// opPress is the operation press. Its fields are described in
// schemas/operations/press.json.
type opPress struct {
	Key    string `json:"key" fill:"text"`
	Dialog string `json:"x-dialog"`
}

func (o *opPress) subject() string { return o.Key }

func (o *opPress) check() []routine.Problem {
	if o.Key == "" || strings.Contains(o.Key, "{{") {
		return nil // said by the schema, known when the placeholder is filled
	}
	_, err := keyboard.Parse(o.Key)
	if err == nil {
		return nil
	}
	p := routine.Problem{Pointer: "/key", Code: "key", Message: err.Error() +
		": use a name of the UI Events standard (Enter, Tab, ArrowDown, F5), one character, or a chord such as Control+A"}
	var unknown *keyboard.UnknownError
	if errors.As(err, &unknown) && unknown.Name != "" {
		p.Hint = routine.DidYouMean(unknown.Name, keysLike(unknown.Name))
	}
	return []routine.Problem{p}
}

// keysLike returns the keys whose names begin like a misspelt one.
func keysLike(name string) []string {
	var like []string
	for _, k := range keyboard.Names() {
		if strings.EqualFold(k[:1], name[:1]) {
			like = append(like, k)
		}
	}
	return like
}

func (o *opPress) Do(ctx context.Context, r *Run) error {
	defer r.answerDialogs(o.Dialog)()
	return r.Page.Press(ctx, o.Key)
}

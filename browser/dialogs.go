package browser

import (
	"fmt"

	"github.com/go-rod/rod/lib/proto"
)

// AcceptDialogs sets whether the dialogs that the run's pages open from now on are
// accepted.
func (t *tabs) AcceptDialogs(accept bool) { t.first.acceptsDialogs.Store(accept) }

// answerDialog answers a JavaScript dialog at once, because the page stands still until
// then, and warns of it. A prompt that is accepted gets its default text. A beforeunload
// dialog is always accepted, without a warning: otherwise the navigation would hang.
func (p *page) answerDialog(session proto.TargetSessionID, e *proto.PageJavascriptDialogOpening) {
	leaves := e.Type == proto.PageDialogTypeBeforeunload
	answer := proto.PageHandleJavaScriptDialog{Accept: leaves || p.first().acceptsDialogs.Load()}
	if answer.Accept {
		answer.PromptText = e.DefaultPrompt
	}
	p.i.client.Send(session, "Page.handleJavaScriptDialog", answer)
	switch {
	case leaves:
	case answer.Accept:
		p.warn(fmt.Sprintf("the page opened a dialog (%s), which was accepted: %.200q", e.Type, e.Message))
	case e.Type == proto.PageDialogTypeAlert: // which has only one answer
		p.warn(fmt.Sprintf("the page opened a dialog (%s), which was dismissed: %.200q", e.Type, e.Message))
	default:
		p.warn(fmt.Sprintf("the page opened a dialog (%s), which was dismissed: %.200q; "+
			`"x-dialog": "accept" on the click or press that opens it accepts it`, e.Type, e.Message))
	}
}

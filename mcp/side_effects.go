package mcp

import (
	"fmt"
	"strings"

	"rote/routine"
	"rote/routine/operation"
)

// retryable are the codes after which the same call may succeed. If the run may have
// changed the site, a second call would change it once more.
var retryable = map[routine.Code]bool{
	routine.CodeTimeout: true, routine.CodeCancelled: true, routine.CodeNavigationFailed: true, routine.CodeNetworkError: true,
	routine.CodeResultTooLarge: true, routine.CodeBrowserCrashed: true, routine.CodeInterrupted: true,
}

// codesWithoutEffect are the codes of operations that have failed before they had
// any effect.
var codesWithoutEffect = map[routine.Code]bool{
	routine.CodeElementNotFound: true, routine.CodeElementNotActionable: true, routine.CodeEgressDenied: true, routine.CodeValueMissing: true,
}

// sideEffects names the operations of a failed run that may have had an effect on
// the site, as in "operation 2 (click)". It is empty if none had, as in a routine that
// is known to be read-only.
func sideEffects(e *routine.Execution, readOnly bool) string {
	if e == nil || readOnly {
		return ""
	}
	var names []string
	for _, r := range operationRecords(e) {
		if hasSideEffect(r) && (r.Error == nil || !codesWithoutEffect[e.ErrorCode]) {
			names = append(names, fmt.Sprintf("operation %d (%s)", r.Index+1, r.Type))
		}
	}
	if e.ErrorCode == routine.CodeInterrupted {
		names = append(names, "the operation that was interrupted") // it has no record
	}
	if more := len(names) - maxNamedOperations; more > 0 {
		names = append(names[:maxNamedOperations], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// maxNamedOperations limits how many operations sideEffects names.
const maxNamedOperations = 5

// operationRecords returns the records of a run that has ended, or was interrupted
// together with its service.
func operationRecords(e *routine.Execution) []routine.OperationRecord {
	if e.Result != nil {
		return e.Result.OperationsMetadata
	}
	return e.Operations
}

// hasSideEffect reports whether an operation may have changed something on a site.
// A record without a request means that none was sent.
func hasSideEffect(r routine.OperationRecord) bool {
	request, _ := r.Details["request"].(map[string]any)
	method, _ := request["method"].(string)
	k, _ := operation.KindOf(r.Type)
	return k.Effect.With(method) == operation.EffectChanges
}

// refusedRequest describes the last request that the site refused, among those that
// change something and the one of the page itself. It is empty if none is known.
func refusedRequest(e *routine.Execution) string {
	if e.Evidence == nil {
		return ""
	}
	text := ""
	for _, f := range e.Evidence.FailedRequests {
		if f.Status >= 400 && (operation.ChangesSite(f.Method) || f.URL == e.Evidence.URL) {
			url := truncate(routine.OneLine(clean(f.URL)), maxWarning)
			text = fmt.Sprintf("%s %s was answered with HTTP status %d, which may be why", clean(f.Method), url, f.Status)
		}
	}
	return text
}

// cautiousNextStep returns the advice after a failed run that may have changed the
// site.
func cautiousNextStep(e *routine.Execution, names string, step string) string {
	parts := []string{"look at the site's state first and do not call again blindly, because " + names + " may have had an effect there"}
	if why := refusedRequest(e); why != "" {
		parts = append(parts, why)
	}
	switch {
	case e.ErrorCode == routine.CodeTimeout:
		parts = append(parts, "if all is as it was before and the site was slow, the routine needs longer limits")
	case retryable[e.ErrorCode]:
		parts = append(parts, "call again only if all is as it was before")
	default:
		parts = append(parts, step)
	}
	return strings.Join(parts, "; ")
}

package routine

// Event is one change of an execution: either a new status, in Execution, or a
// finished operation, in Operation. The other field is nil.
type Event struct {
	// Sequence grows from event to event, with gaps. It depends on the execution only:
	// an event has the same number for every watcher, in every process.
	Sequence int
	// Execution has neither result nor evidence.
	Execution *Execution
	Operation *OperationRecord
}

// Progress reports that an operation is about to start, or that it waits for a person.
type Progress struct {
	// Index counts from 0.
	Index, Total int
	Operation    string
	// WaitsFor is the secret for which the operation, which has started, waits for a one-time
	// code that a person has to give; empty: it does not wait.
	WaitsFor string
}

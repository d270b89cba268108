package routine

// Event is one change of an execution: a new status, in Execution, a finished operation, in
// Operation, or an operation that has begun, in Begun. The other fields are nil.
type Event struct {
	// Sequence grows from event to event, with gaps. It depends on the execution only:
	// an event has the same number for every watcher, in every process. It is 0 for an
	// operation that has begun: see Begun.
	Sequence int
	// Execution has neither result nor evidence.
	Execution *Execution
	Operation *OperationRecord
	// Begun is the operation that is running. It has no number and is not repeated: watchers
	// in the process of the execution learn of it while it runs, those in other processes
	// never, and nobody when it has ended before the watcher is called.
	Begun *BegunOperation
}

// BegunOperation is an operation that is running.
type BegunOperation struct {
	// Index counts from 0.
	Index int    `json:"index"`
	Type  string `json:"type"`
	// StartSeconds is how long after Execution.StartedAt it began.
	StartSeconds float64 `json:"start_seconds"`
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

package routine

// Event is one step of an execution: a change of its status or the record of an
// operation, the other being nil.
type Event struct {
	// Sequence grows from event to event, with gaps. It depends on the
	// execution only: an event has the same number whenever and by whichever
	// process it is told.
	Sequence  int
	Execution *Execution // without its result and evidence
	Operation *OperationRecord
}

// Progress tells of an operation that begins.
type Progress struct {
	Index, Total int // from 0
	Operation    string
}

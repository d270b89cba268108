package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rote/routine"
	"rote/routine/lesson/candidate"
)

// mendText says, for an author who mends a routine, what fails, what could take its place
// and what to call next. It is empty if there is nothing to say.
func mendText(s *Started) string {
	f, id := s.Failure, routine.JSONText(s.ID)
	if f == nil {
		n := len(s.Remaining)
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("Operations %d to %d of the routine were not done. To add one here: try_operation {\"lesson\":%s,\"operation\":{…}}.\n",
			s.Remaining[0].Number, s.Remaining[n-1].Number, id)
	}
	text := f.Text(s.CreatedAt)
	if s.Newest != 0 {
		text += fmt.Sprintf("The routine is at version %d now; this is about version %d, and saving it replaces the changes since then.\n", s.Newest, s.Version)
	}
	text += candidatesText(s.ID, f.Operation, s.Candidates)
	if len(s.Candidates) == 0 {
		return text
	}
	after := len(s.Remaining)
	if !s.Candidates[0].Before {
		after--
	}
	then := "Then"
	if after > 0 {
		then = fmt.Sprintf("If it works, the %d operations after it are done too, up to one that may act on the site. Then", after)
	}
	return text + fmt.Sprintf("%s save_lesson {\"lesson\":%s,\"expected_version\":%d}.\n", then, id, cmp.Or(s.Newest, s.Version))
}

// maxOperationText bounds the text of an operation in an answer, in bytes. Answers are bounded,
// and a script may be very long.
const maxOperationText = 4000

// likelyPoints are those from which a candidate is proposed to be tried.
const likelyPoints = 40

// candidatesText lists the candidates for an operation, with a call that tries the first one.
func candidatesText(id string, at int, cs []candidate.Candidate) string {
	quotedID := routine.JSONText(id)
	if len(cs) == 0 {
		return fmt.Sprintf("No candidate was found. Look at the page; put an operation in its place with "+
			"try_operation {\"lesson\":%s,\"at\":%d,\"operation\":{…}}.\n", quotedID, at)
	}
	place := ""
	if !cs[0].Before {
		place = fmt.Sprintf(`"at":%d,`, at)
	}
	advice := "Try one"
	if cs[0].Points < likelyPoints {
		advice = "None is likely. If one of them is what the routine means, try it as in"
	}
	if arguments := operationsOf(cs[0]); len(arguments) > maxOperationText {
		return CandidatesText(cs) + fmt.Sprintf("%s: try_operation {\"lesson\":%s,%s\"operation\":{…}} with the operation as it was, changed like that.\n",
			advice, quotedID, place)
	}
	return CandidatesText(cs) + fmt.Sprintf(advice+": try_operation {\"lesson\":%s,%s%s}\n", quotedID, place, operationsOf(cs[0]))
}

// operationsOf are the arguments of try_operation with the operations of a candidate.
func operationsOf(c candidate.Candidate) string {
	if len(c.Needs) == 0 {
		return `"operation":` + string(c.Operation)
	}
	return `"operations":` + routine.JSONText(append(slices.Clone(c.Needs), c.Operation))
}

// CandidatesText lists candidates, one a line.
func CandidatesText(cs []candidate.Candidate) string {
	var b strings.Builder
	for i, c := range cs {
		place := ""
		if c.Before {
			place = "before it: "
		}
		what := routine.Truncate(cmp.Or(c.Selector, string(c.Operation)), 300)
		if c.Grade != "" {
			what += " " + c.Grade
		}
		fmt.Fprintf(&b, "%d. %s%s, %d points: %s\n", i+1, place, what, c.Points, routine.Truncate(c.Why, 600))
	}
	return b.String()
}

// Text says which operation fails, and why, in one line.
func (f *Failure) Text(now time.Time) string {
	if f.Then > 0 {
		return fmt.Sprintf("Now operation %d of %d %s fails (then %d): %s (%s).\n", f.Operation, f.Of, routine.Truncate(f.Summary, 200), f.Then,
			shownMessage(f.Code, f.Message, 600), f.Code)
	}
	text := fmt.Sprintf("Operation %d of %d %s fails: %s (%s", f.Operation, f.Of, routine.Truncate(f.Summary, 200),
		shownMessage(f.Code, f.Message, 600), f.Code)
	if f.Execution != "" {
		text += fmt.Sprintf(", execution %s, %s", f.Execution, ago(now.Sub(f.At)))
	}
	return text + ").\n"
}

// ago says how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

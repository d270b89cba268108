package httpapi

import (
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"rote/routine"
)

// mergePatches are the media types of a patch. That of a JSON Patch is none: it
// would be read as something else.
const mergePatches = "application/merge-patch+json, application/json"

func (a *api) patchRoutine(q *request) (answer, error) {
	if err := a.service.MayChange(q.principal); err != nil {
		return answer{}, err
	}
	if mediaType, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); err == nil && mediaType != "application/merge-patch+json" &&
		mediaType != "application/json" {
		q.w.Header().Set("Accept-Patch", mergePatches)
		return answer{}, routine.Errorf(routine.CodeUnsupportedMediaType, "the body must be a JSON Merge Patch: send one of %s", mergePatches)
	}
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	expected, err := expectedVersions(q.Header)
	if err != nil {
		return answer{}, err
	}
	r, warnings, err := a.service.PatchRoutine(q.Context(), q.principal, q.routineID(), text, expected)
	return a.changed(q, r, warnings, err)
}

func (a *api) archiveRoutine(q *request) (answer, error) {
	expected, err := expectedVersions(q.Header)
	if err != nil {
		return answer{}, err
	}
	r, err := a.service.ArchiveRoutine(q.Context(), q.principal, q.routineID(), expected)
	if err != nil {
		return answer{}, err
	}
	return a.one(q, r), nil
}

func (a *api) restoreRoutine(q *request) (answer, error) {
	if err := a.service.MayChange(q.principal); err != nil {
		return answer{}, err
	}
	text, err := q.body()
	if err != nil {
		return answer{}, err
	}
	version := 0
	if err := readObject(text, `its one field is version, as in {"version": 1}`, field{"version", func(value jsontext.Value) bool {
		version, err = strconv.Atoi(string(value))
		return err == nil
	}, "type", "version must be the number of a version", `it is the number of the version to go back to, as in {"version": 1}`}); err != nil {
		return answer{}, err
	}
	expected, err := expectedVersions(q.Header)
	if err != nil {
		return answer{}, err
	}
	r, warnings, err := a.service.RestoreRoutine(q.Context(), q.principal, q.routineID(), version, expected)
	return a.changed(q, r, warnings, err)
}

// changed answers a change, with what is doubtful about its result.
func (a *api) changed(q *request, r *routine.Routine, warnings []routine.Problem, err error) (answer, error) {
	if err != nil {
		return answer{}, &failure{error: err, warnings: warnings}
	}
	tag(q, r)
	return answer{status: http.StatusOK, body: a.changedRoutine(r, warnings)}, nil
}

// one answers a routine.
func (a *api) one(q *request, r *routine.Routine) answer {
	tag(q, r)
	if r.Withheld {
		return answer{status: http.StatusOK, body: a.withheldRoutine(r, nil)}
	}
	return answer{status: http.StatusOK, body: r}
}

// tag sets the ETag to the version in quotes: a version never changes. Callers
// of other organizations, who do not see the values of secret parameters, get
// a tag of their own, because they get another body.
func tag(q *request, r *routine.Routine) {
	version := strconv.Itoa(r.Version)
	if r.Redacted {
		version += "-redacted"
	}
	q.w.Header().Set("ETag", strconv.Quote(version))
}

// expectedVersions are those that If-Match names; nil when any will do.
func expectedVersions(h http.Header) ([]int, error) {
	given := strings.Join(h.Values("If-Match"), ",")
	if given == "" || strings.TrimSpace(given) == "*" {
		return nil, nil
	}
	versions := []int{}
	for tag := range strings.SplitSeq(given, ",") {
		tag = strings.TrimSpace(tag)
		quoted := strings.TrimPrefix(tag, "W/")
		if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
			return nil, routine.Errorf(routine.CodeInvalid, `If-Match must be the ETag of an answer, in its quotes, as in "3"`)
		}
		// A weak tag matches nothing, nor does one that is no version of ours.
		if n, err := strconv.Atoi(quoted[1 : len(quoted)-1]); err == nil && quoted == tag {
			versions = append(versions, n)
		}
	}
	return versions, nil
}

func (a *api) listVersions(q *request) (answer, error) {
	query, err := queryOf(q.URL)
	if err != nil {
		return answer{}, err
	}
	limit, offset := query.page()
	if err := query.err(); err != nil {
		return answer{}, err
	}
	vs, total, err := a.service.Versions(q.Context(), q.principal, q.routineID(), limit, offset)
	if err != nil {
		return answer{}, err
	}
	return answerPage(q, vs, total, limit, offset), nil
}

// readVersion gives a version, or with diff_from how it differs from another.
func (a *api) readVersion(q *request) (answer, error) {
	number, err := strconv.Atoi(q.parameter("version"))
	if err != nil {
		return answer{}, routine.Errorf(routine.CodeNotFound, "there is no such version: versions are numbers")
	}
	query, err := queryOf(q.URL)
	if err != nil {
		return answer{}, err
	}
	from := query.integer("diff_from", 0, 1, 1<<31, "of at least 1")
	if err := query.err(); err != nil {
		return answer{}, err
	}
	if !query.values.Has("diff_from") {
		v, err := a.service.Version(q.Context(), q.principal, q.routineID(), number)
		if err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, body: v}, nil
	}
	patch, err := a.service.DiffVersions(q.Context(), q.principal, q.routineID(), from, number)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: document{"application/json-patch+json", fmt.Appendln(nil, string(patch))}}, nil
}

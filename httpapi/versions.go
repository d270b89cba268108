package httpapi

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"rote/routine"
)

// jsonPatchType is the media type of a JSON Patch (RFC 6902), patchTypes are those of all
// patches. The others are those of a JSON Merge Patch (RFC 7396).
const (
	jsonPatchType = "application/json-patch+json"
	patchTypes    = "application/merge-patch+json, application/json, " + jsonPatchType
)

func (a *api) patchRoutine(q *request) (response, error) {
	if err := a.service.MayChange(q.principal); err != nil {
		return response{}, err
	}
	mediaType, _, err := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if err == nil && !slices.Contains(strings.Split(patchTypes, ", "), mediaType) {
		q.w.Header().Set("Accept-Patch", patchTypes)
		return response{}, routine.Errorf(routine.CodeUnsupportedMediaType, "the body must be a JSON Merge Patch or a JSON Patch: send one of %s", patchTypes)
	}
	patch := a.service.PatchRoutine
	if mediaType == jsonPatchType {
		patch = a.service.JSONPatchRoutine
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	expected, err := ifMatchVersions(q.Header)
	if err != nil {
		return response{}, err
	}
	r, warnings, err := patch(q.Context(), q.principal, q.routineID(), text, expected)
	return a.changeResponse(q, r, warnings, err)
}

func (a *api) archiveRoutine(q *request) (response, error) {
	expected, err := ifMatchVersions(q.Header)
	if err != nil {
		return response{}, err
	}
	r, err := a.service.ArchiveRoutine(q.Context(), q.principal, q.routineID(), expected)
	if err != nil {
		return response{}, err
	}
	return a.routineResponse(q, r), nil
}

func (a *api) restoreRoutine(q *request) (response, error) {
	if err := a.service.MayChange(q.principal); err != nil {
		return response{}, err
	}
	text, err := q.readBody()
	if err != nil {
		return response{}, err
	}
	version := 0
	if err := readJSONObject(text, `its one field is version, as in {"version": 1}`, jsonField{"version", func(value jsonValue) bool {
		version, err = strconv.Atoi(string(value.Value))
		return err == nil
	}, "type", "version must be the number of a version", `it is the number of the version to go back to, as in {"version": 1}`}); err != nil {
		return response{}, err
	}
	expected, err := ifMatchVersions(q.Header)
	if err != nil {
		return response{}, err
	}
	r, warnings, err := a.service.RestoreRoutine(q.Context(), q.principal, q.routineID(), version, expected)
	return a.changeResponse(q, r, warnings, err)
}

// changeResponse returns a changed routine with its warnings.
func (a *api) changeResponse(q *request, r *routine.Routine, warnings []routine.Problem, err error) (response, error) {
	if err != nil {
		return response{}, &errorDetails{error: err, warnings: warnings}
	}
	setETag(q, r)
	return response{status: http.StatusOK, body: a.changedRoutine(r, warnings)}, nil
}

// routineResponse returns a routine and sets its ETag.
func (a *api) routineResponse(q *request, r *routine.Routine) response {
	setETag(q, r)
	if r.Withheld {
		return response{status: http.StatusOK, body: a.withheldRoutine(r, nil)}
	}
	return response{status: http.StatusOK, body: r}
}

// setETag sets the ETag to the version in quotes, because a version never
// changes. Callers of other organizations do not see the values of secret
// parameters: they get another body and therefore another ETag.
func setETag(q *request, r *routine.Routine) {
	version := strconv.Itoa(r.Version)
	if r.Redacted {
		version += "-redacted"
	}
	q.w.Header().Set("ETag", strconv.Quote(version))
}

// ifMatchVersions returns the versions in If-Match, or nil if any version is
// accepted.
func ifMatchVersions(h http.Header) ([]int, error) {
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
		// A weak tag or one that is not a version matches nothing.
		if n, err := strconv.Atoi(quoted[1 : len(quoted)-1]); err == nil && quoted == tag {
			versions = append(versions, n)
		}
	}
	return versions, nil
}

func (a *api) listVersions(q *request) (response, error) {
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	limit, offset := query.limitAndOffset()
	if err := query.err(); err != nil {
		return response{}, err
	}
	vs, total, err := a.service.Versions(q.Context(), q.principal, q.routineID(), limit, offset)
	if err != nil {
		return response{}, err
	}
	return pageResponse(q, vs, total, limit, offset), nil
}

// readVersion returns a version or, with diff_from, its difference from another
// version.
func (a *api) readVersion(q *request) (response, error) {
	number, err := strconv.Atoi(q.pathParameter("version"))
	if err != nil {
		return response{}, routine.Errorf(routine.CodeNotFound, "there is no such version: versions are numbers")
	}
	query, err := parseQuery(q.URL)
	if err != nil {
		return response{}, err
	}
	from := query.integer("diff_from", 0, 1, 1<<31, "of at least 1")
	if err := query.err(); err != nil {
		return response{}, err
	}
	if !query.values.Has("diff_from") {
		v, err := a.service.Version(q.Context(), q.principal, q.routineID(), number)
		if err != nil {
			return response{}, err
		}
		return response{status: http.StatusOK, body: v}, nil
	}
	patch, err := a.service.DiffVersions(q.Context(), q.principal, q.routineID(), from, number)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusOK, body: document{jsonPatchType, fmt.Appendln(nil, string(patch))}}, nil
}

package provider

import (
	"fmt"
	"strings"

	"rote/routine"
)

// The parts of a template that stand for the organization and the project of a secret.
const (
	organizationPart = "{organization}"
	projectPart      = "{project}"
)

// noProject stands for the project of a secret that belongs to a whole organization.
const noProject = "-"

// tenantPath is a path with parts that stand for the organization and the project of a secret,
// so that no reference leads to the values of others.
type tenantPath []string

// parseTenantPath reads a path such as rote/{organization}/{project}. An empty text is an
// empty path.
func parseTenantPath(text string) (tenantPath, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, "/")
	for _, part := range parts {
		if part != organizationPart && part != projectPart && (!isPathElement(part) || strings.ContainsAny(part, "{}")) {
			return nil, fmt.Errorf("%s is no path of names, {organization} and {project}, as in rote/{organization}/{project}", routine.Quote(text))
		}
	}
	return parts, nil
}

// of returns the path for the organization and the project of a secret. ErrProviderDenied if
// their names cannot be in a path.
func (p tenantPath) of(ref routine.ProviderReference) ([]string, error) {
	var path []string
	for _, part := range p {
		switch part {
		case organizationPart:
			part = ref.OrganizationID
		case projectPart:
			if part = ref.ProjectID; part == noProject {
				part = "" // it is refused: its values would be those of the whole organization
			}
			if ref.ProjectID == "" {
				path = append(path, noProject)
				continue
			}
		}
		if !isPathElement(part) {
			return nil, fmt.Errorf("%w: the organization %s or the project %s has a name that cannot be in a path", routine.ErrProviderDenied,
				routine.Quote(ref.OrganizationID), routine.Quote(ref.ProjectID))
		}
		path = append(path, part)
	}
	return path, nil
}

// isPathElement reports whether a text can be one element of a path at any provider.
func isPathElement(text string) bool {
	return text != "" && text != "." && text != ".." && !strings.ContainsAny(text, `/\%#?"`) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

package operation

import (
	"context"

	"rote/routine"
)

// opDownload is the operation download. Its fields are described in
// schemas/operations/download.json.
type opDownload struct {
	Endpoint endpoint `json:"endpoint"`
	Filename string   `json:"filename" fill:"filename"`
}

func (o *opDownload) subject() string          { return o.Endpoint.URL }
func (o *opDownload) resultName() string       { return o.Filename }
func (o *opDownload) request() *endpoint       { return &o.Endpoint }
func (o *opDownload) check() []routine.Problem { return o.Endpoint.check() }

func (o *opDownload) Do(ctx context.Context, r *Run) error {
	response, err := r.fetch(ctx, &o.Endpoint)
	if err != nil {
		return err
	}
	if response.Status < 200 || response.Status > 299 {
		return routine.Errorf(routine.CodeHTTPError, "%s", routine.DescribeStatus(response.URL, response.Status))
	}
	f := routine.File{FileInfo: routine.FileInfo{Name: o.Filename, ContentType: header(response.Headers, "content-type")}, Data: response.Body}
	if err := r.SetFile(f); err != nil {
		return err
	}
	if text := contentTypeMismatch(o.Filename, f.ContentType, o.Endpoint.URL, response.URL); text != "" {
		r.Warn(text)
	}
	return nil
}

func (o *opDownload) warnings() []routine.Problem { return o.Endpoint.warnings() }

func (o *opDownload) checkCost() int { return o.Endpoint.checkCost() }

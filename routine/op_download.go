package routine

import (
	"context"
	"encoding/base64"
	"encoding/json"
)

type opDownload struct {
	Endpoint endpoint `json:"endpoint"`
	Filename string   `json:"filename" fill:"filename"`
}

func (o *opDownload) subject() string  { return o.Endpoint.URL }
func (o *opDownload) yields() Outcome  { return Outcome{OutcomeFile, o.Filename} }
func (o *opDownload) check() []Problem { return o.Endpoint.check() }

func (o *opDownload) Do(ctx context.Context, r *Run) error {
	response, err := r.fetch(ctx, &o.Endpoint)
	if err != nil {
		return err
	}
	if response.Status < 200 || response.Status > 299 {
		return Errorf(CodeHTTPError, "%s answered with HTTP status %d", clip(response.URL, maxShownURL), response.Status)
	}
	data := make([]byte, base64.StdEncoding.EncodedLen(len(response.Body))+2)
	data[0], data[len(data)-1] = '"', '"'
	base64.StdEncoding.Encode(data[1:], response.Body)
	if err := r.setData(json.RawMessage(data), len(response.Body)); err != nil {
		return err
	}
	size := int64(len(response.Body))
	r.result.IsBase64, r.result.Filename, r.result.Size = true, o.Filename, &size
	r.result.ContentType = header(response.Headers, "content-type")
	if text := unlike(o.Filename, r.result.ContentType, o.Endpoint.URL, response.URL); text != "" {
		r.warn(text)
	}
	return nil
}

package browser

import (
	"context"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

var _ routine.Picturable = (*tabs)(nil)

// pictureQuality is the quality of a picture, of 100.
const pictureQuality = 50

// Picture takes a picture of the page on which the last operation acted. It shares nothing with
// the goroutine of the run but the connection to the browser. A page at a breakpoint of the guard
// of scripts gives no picture until its scripts are resumed.
func (t *tabs) Picture(ctx context.Context) ([]byte, error) {
	p := t.shown.Load()
	if p == nil {
		p = t.first
	}
	quality := pictureQuality
	picture, err := cdp.Call[proto.PageCaptureScreenshotResult](ctx, p, proto.PageCaptureScreenshot{
		Format: proto.PageCaptureScreenshotFormatJpeg, Quality: &quality, FromSurface: true, OptimizeForSpeed: true})
	return picture.Data, err
}

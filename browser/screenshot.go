package browser

import (
	"bytes"
	"context"
	_ "embed"
	"image/jpeg"

	"github.com/go-rod/rod/lib/proto"

	"rote/routine"
)

var (
	//go:embed blank.js
	blankSource string
	//go:embed secrets.js
	secretsSource string
	// blankScript gives a function that blanks a page for its picture.
	blankScript = withSecrets(blankSource)
)

// withSecrets makes an expression in which findSecrets is the function of
// secrets.js.
func withSecrets(expression string) string {
	return "(findSecrets => (" + expression + "))(" + secretsSource + ")"
}

// viewport is the part of the document that is seen, in CSS pixels.
type viewport struct{ X, Y, Width, Height float64 }

// Screenshots are tried in these ways until one is small enough.
var screenshots = []struct {
	quality int
	scale   float64
}{{60, 1}, {40, 0.5}, {20, 0.5}}

// maxScreenshot bounds the bytes of one.
const maxScreenshot = 100 << 10

// screenshot pictures what is in view, with the page's scripts stopped, so that
// none brings back what is blanked. It is nil when that does not work.
func (p *page) screenshot(ctx context.Context, secrets []string) *routine.Screenshot {
	views := append(p.framesNow(), p.top) // the page last: what is seen of it counts
	if len(secrets) > 0 && len(views) > maxFrames {
		return nil // there may be more frames, which nobody looks into
	}
	for _, v := range views {
		v.send(proto.EmulationSetScriptExecutionDisabled{Value: true})
	}
	if len(secrets) > 0 && removeClosedRoots(ctx, views) != nil {
		return nil
	}
	var seen viewport
	for _, v := range views {
		var err error
		if seen, err = inHelperWithoutTimer[viewport](ctx, v, blankScript, secrets); err != nil {
			return nil
		}
	}
	for _, try := range screenshots {
		picture, err := call[proto.PageCaptureScreenshotResult](ctx, p, proto.PageCaptureScreenshot{
			Format: proto.PageCaptureScreenshotFormatJpeg, Quality: &try.quality,
			Clip: &proto.PageViewport{X: seen.X, Y: seen.Y, Width: seen.Width, Height: seen.Height, Scale: try.scale}, FromSurface: true})
		if err != nil {
			return nil
		}
		if len(picture.Data) > maxScreenshot {
			continue
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(picture.Data))
		if err != nil {
			return nil
		}
		return &routine.Screenshot{ContentType: "image/jpeg", Width: size.Width, Height: size.Height, Size: len(picture.Data), Data: picture.Data}
	}
	return nil
}

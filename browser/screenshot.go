package browser

import (
	"bytes"
	"context"
	_ "embed"
	"image/jpeg"

	"github.com/go-rod/rod/lib/proto"

	"rote/browser/cdp"
	"rote/routine"
)

var (
	//go:embed redact.js
	redactSource string
	//go:embed secrets.js
	secretsSource string
	// redactScript defines a function that hides secrets in a page for its screenshot.
	redactScript = withSecrets(redactSource)
)

// withSecrets is an expression in which findSecrets is the function of secrets.js.
func withSecrets(expression string) string {
	return "(findSecrets => (" + expression + "))(" + secretsSource + ")"
}

// viewport is the visible part of the document, in CSS pixels.
type viewport struct {
	X, Y, Width, Height float64
}

// Screenshots are tried in these ways until one is small enough.
var screenshots = []struct {
	quality int
	scale   float64
}{{60, 1}, {40, 0.5}, {20, 0.5}}

// maxScreenshot bounds the size of a screenshot, in bytes.
const maxScreenshot = 100 << 10

// screenshot returns a screenshot of the viewport, with secrets hidden and the page's
// scripts stopped, so that none shows a secret again. It is nil if that fails.
func (p *page) screenshot(ctx context.Context, secrets []string) *routine.Screenshot {
	views := append(p.currentFrames(), p.frames.top) // the page last, because its viewport is the one that counts
	if len(secrets) > 0 && len(views) > maxFrames {
		return nil // there may be more frames, in which no secrets would be hidden
	}
	for _, v := range views {
		v.Send(proto.EmulationSetScriptExecutionDisabled{Value: true})
	}
	if len(secrets) > 0 && removeClosedRoots(ctx, views) != nil {
		return nil
	}
	var seen viewport
	for _, v := range views {
		var err error
		if seen, err = inHelperWithoutTimer[viewport](ctx, v, redactScript, secrets); err != nil {
			return nil
		}
	}
	picture, err := p.takePicture(ctx, seen)
	if err != nil {
		return nil
	}
	return picture
}

// takePicture takes a screenshot of the viewport as it is. It is nil if even the coarsest one
// is too large.
func (p *page) takePicture(ctx context.Context, seen viewport) (*routine.Screenshot, error) {
	for _, try := range screenshots {
		picture, err := cdp.Call[proto.PageCaptureScreenshotResult](ctx, p, proto.PageCaptureScreenshot{
			Format: proto.PageCaptureScreenshotFormatJpeg, Quality: &try.quality,
			Clip: &proto.PageViewport{X: seen.X, Y: seen.Y, Width: seen.Width, Height: seen.Height, Scale: try.scale}, FromSurface: true})
		if err != nil {
			return nil, err
		}
		if len(picture.Data) > maxScreenshot {
			continue
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(picture.Data))
		if err != nil {
			return nil, err
		}
		return &routine.Screenshot{ContentType: "image/jpeg", Width: size.Width, Height: size.Height, Size: len(picture.Data), Data: picture.Data}, nil
	}
	return nil, nil
}

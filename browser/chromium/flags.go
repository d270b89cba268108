package chromium

import "strings"

// disabledFeatures are one list: of a repeated switch Chromium takes the last.
// DeferRendererTasksAfterInput holds what a click asks for until the next frame,
// 10 ms, so that a person sees the click first. SpareRendererForSitePerProcess
// starts a process ahead for every navigation, which the ready contexts do
// without and which takes half as long again on two cores. The WebUIOmnibox
// features start two renderers for the address bar of every new window. The
// headless shell has no BackForwardCache and no address bar anyway.
var disabledFeatures = []string{
	"Translate", "MediaRouter", "OptimizationHints", "DialMediaRouteProvider", "AcceptCHFrame", "InterestFeedContentSuggestions",
	"CertificateTransparencyComponentUpdater", "AutofillServerCommunication", "PrivacySandboxSettings4", "HttpsUpgrades", "RenderDocument",
	"BackForwardCache", "SpareRendererForSitePerProcess", "DeferRendererTasksAfterInput",
	"WebUIOmniboxPopup", "WebUIOmniboxAimPopup",
}

// flags are Chromium's command line: quiet, without background traffic of its
// own, with each site in a process of its own (the headless shell does not do
// that unasked), and with no way past the run's proxy. The two WebRTC switches say the
// same: full Chromium reads one and the headless shell the other. The resolver
// rule makes look-ups by the browser itself impossible; names are the proxy's
// to resolve.
func flags(profile string, sandbox bool) []string {
	f := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + profile,
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-sync",
		"--disable-default-apps", "--disable-extensions", "--disable-component-update", "--disable-client-side-phishing-detection",
		"--disable-domain-reliability", "--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only", "--no-pings",
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--disable-ipc-flooding-protection", "--disable-prompt-on-repost", "--disable-hang-monitor", "--disable-popup-blocking",
		"--disable-features=" + strings.Join(disabledFeatures, ","),
		"--password-store=basic", "--use-mock-keychain", "--force-color-profile=srgb", "--mute-audio", "--hide-scrollbars",
		"--window-size=1280,800", "--disable-gpu", "--allow-pre-commit-input", "--noerrdialogs",
		"--site-per-process", "--disable-quic", "--proxy-bypass-list=<-loopback>",
		// A headless browser says that there is no mouse, and widgets show their
		// forms for phones. With these numbers pages see what a desktop says: a
		// pointer that is fine (4) and hovers (2).
		"--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
	}
	if !sandbox {
		f = append(f, "--no-sandbox")
	}
	return append(f, "about:blank")
}

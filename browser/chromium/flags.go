package chromium

import (
	"slices"
	"strings"
)

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

// localProxyHost is where the proxies of the runs are for a browser of this machine.
const localProxyHost = "127.0.0.1"

// confiningFlags keep each site in a process of its own (the headless shell does not do that
// unasked) and leave no way past the proxies of the runs, which are at a host. The two WebRTC
// switches say the same: full Chromium reads one and the headless shell the other. The
// resolver rule makes look-ups by the browser itself impossible; names are the proxy's to
// resolve.
func confiningFlags(proxyHost string) []string {
	return []string{
		"--site-per-process", "--disable-quic", "--proxy-bypass-list=<-loopback>",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE " + proxyHost,
	}
}

// Flags are the command line of a Chromium of this machine, with its profile: those of
// [FlagsElsewhere] and the pipe through which it is driven.
func Flags(profile string, sandbox bool) []string {
	f := append(FlagsElsewhere(localProxyHost), "--remote-debugging-pipe", "--user-data-dir="+profile)
	if !sandbox {
		f = append(f, "--no-sandbox")
	}
	return append(f, "about:blank")
}

// FlagsElsewhere are the flags that Chromium needs on any machine: it is quiet, without
// background traffic of its own, and confined to the proxies of the runs, which it reaches at
// proxyHost.
func FlagsElsewhere(proxyHost string) []string {
	return slices.Concat(confiningFlags(proxyHost), []string{
		"--headless=new",
		"--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-sync",
		"--disable-default-apps", "--disable-extensions", "--disable-component-update", "--disable-client-side-phishing-detection",
		"--disable-domain-reliability", "--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only", "--no-pings",
		"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
		"--disable-ipc-flooding-protection", "--disable-prompt-on-repost", "--disable-hang-monitor", "--disable-popup-blocking",
		"--disable-features=" + strings.Join(disabledFeatures, ","),
		"--password-store=basic", "--use-mock-keychain", "--force-color-profile=srgb", "--mute-audio", "--hide-scrollbars",
		"--window-size=1280,800", "--disable-gpu", "--allow-pre-commit-input", "--noerrdialogs",
		// A headless browser says that there is no mouse, and widgets show their
		// forms for phones. With these numbers pages see what a desktop says: a
		// pointer that is fine (4) and hovers (2).
		"--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
	})
}

package javascript

import "strings"

// gives is what a name of the browser's or the language's yields, whatever
// object it is looked up on.
type gives uint8

const (
	givesInert   gives = 1 << iota // nothing that can be called
	givesText                      // a string, null or undefined
	givesNumber                    // a number
	givesOwn                       // a fresh object or array
	givesNothing gives = 0         // nothing is known
)

func (g gives) has(what property) bool {
	switch what {
	case inert:
		return g != givesNothing
	case textual:
		return g&givesText != 0
	case numeric:
		return g&givesNumber != 0
	case own:
		return g&givesOwn != 0
	}
	return false
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func table(rows map[gives]string) map[string]gives {
	m := map[string]gives{}
	for g, words := range rows {
		for _, w := range strings.Fields(words) {
			m[w] |= g
		}
	}
	return m
}

// The tables below hold for every interface of the browser and the language
// that has a member of that name. A name that does something on any of them
// (replace is a String's and a Location's, add a Set's and a Cache's) has no
// place in plain.

// plain are methods that read, compute, wait or scroll, and that call none of
// their arguments.
var plain = set(`
querySelector querySelectorAll getElementById getElementsByClassName getElementsByTagName getElementsByName
getAttribute getAttributeNames hasAttribute hasAttributes closest matches contains getBoundingClientRect getClientRects
compareDocumentPosition isEqualNode isSameNode hasChildNodes getRootNode checkVisibility elementFromPoint elementsFromPoint
getPropertyValue getComputedStyle item namedItem snapshotItem iterateNext parseFromString
getItem setItem removeItem key getEntriesByType getEntriesByName now
trim trimStart trimEnd toLowerCase toUpperCase toLocaleLowerCase toLocaleUpperCase split slice substring substr charAt charCodeAt
codePointAt indexOf lastIndexOf includes startsWith endsWith padStart padEnd repeat normalize localeCompare match matchAll search
test concat join at
push pop shift unshift reverse flat fill splice with toSorted toReversed keys values entries
toString toLocaleString valueOf toFixed toPrecision toISOString toJSON toDateString toLocaleDateString toLocaleTimeString
getTime getFullYear getMonth getDate getDay getHours getMinutes getSeconds getMilliseconds getTimezoneOffset
getUTCFullYear getUTCMonth getUTCDate getUTCDay getUTCHours getUTCMinutes getUTCSeconds
hasOwnProperty propertyIsEnumerable isPrototypeOf
format formatToParts resolvedOptions encode randomUUID digest
scroll scrollTo scrollBy scrollIntoView scrollIntoViewIfNeeded
next getAll getAsString
`)

// withCallback are methods that call their first so many arguments.
var withCallback = map[string]int{
	"map": 1, "filter": 1, "forEach": 1, "find": 1, "findLast": 1, "findIndex": 1, "findLastIndex": 1, "some": 1, "every": 1,
	"flatMap": 1, "reduce": 1, "reduceRight": 1, "sort": 1, "then": 2, "catch": 1, "finally": 1,
}

// collection are methods that only read and write on a Map, Set or
// URLSearchParams, and do something else elsewhere.
var (
	collection  = set("get set add has delete clear size append")
	collections = set("Map Set WeakMap WeakSet URLSearchParams")
)

func isMethod(name string) bool {
	return plain[name] || withCallback[name] > 0 || collection[name] || name == "replace" || name == "replaceAll" || name == "bind" || name == "call" ||
		name == "apply"
}

// implicit are the names under which the language itself calls or follows what
// it finds.
var implicit = set(`then toJSON toString valueOf constructor __proto__ prototype next return throw done exec join flags source raw
has keys size length get set value`)

// functions are globals that read, compute or wait, and call nothing.
var functions = set(`String Number Boolean BigInt Symbol parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent
encodeURI decodeURI escape unescape atob btoa Date RegExp Error TypeError RangeError Array structuredClone getComputedStyle matchMedia
getSelection clearTimeout clearInterval cancelAnimationFrame cancelIdleCallback scrollTo scrollBy scroll`)

// computes are those of them that are harmless as a callback.
var computes = set("String Number Boolean parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent")

// timers call their first argument later.
var timers = set("setTimeout setInterval requestAnimationFrame requestIdleCallback queueMicrotask")

// constructors make what only holds or computes values.
var constructors = set(`Map Set WeakMap WeakSet WeakRef Date RegExp Error TypeError RangeError URL URLSearchParams Array Object Promise
DOMParser TextEncoder TextDecoder Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array Float64Array
ArrayBuffer DataView AbortController XPathEvaluator`)

// namespaces are globals of which all that may be called is named here.
var namespaces = map[string]map[string]bool{
	"JSON":   set("parse stringify"),
	"Object": set("keys values entries getOwnPropertyNames is hasOwn freeze create getPrototypeOf"),
	"Array":  set("isArray from of"),
	"String": set("fromCharCode fromCodePoint raw"),
	"Number": set("isInteger isFinite isNaN isSafeInteger parseInt parseFloat"),
	"Math": set(`abs acos asin atan atan2 cbrt ceil clz32 cos cosh exp expm1 floor fround hypot imul log log10 log1p log2 max min pow
random round sign sin sinh sqrt tan tanh trunc`),
	"Date":        set("now parse UTC"),
	"Promise":     set("all allSettled any race resolve reject withResolvers"),
	"Symbol":      set("for keyFor"),
	"console":     set("log info warn error debug table dir trace group groupEnd time timeEnd count assert"),
	"performance": set("now getEntriesByType getEntriesByName"),
	"CSS":         set("escape supports"),
	"crypto":      set("randomUUID getRandomValues"),
}

// properties are what the browser has under these names, on whatever object.
var properties = table(map[gives]string{
	givesInert | givesText: `textContent innerText innerHTML outerHTML outerText id className tagName nodeName localName nodeValue href src alt
title name placeholder lang dir rel type action method hash host hostname origin pathname port protocol search cookie
referrer readyState URL baseURI documentURI userAgent language platform content currentSrc srcset label htmlFor text wholeText
accept pattern min max step cssText message coords charset characterSet contentType domain lastModified visibilityState
responseText statusText key code`,
	givesInert | givesNumber: `length nodeType childElementCount rowIndex cellIndex sectionRowIndex colSpan rowSpan selectedIndex index lastIndex
offsetTop offsetLeft offsetWidth offsetHeight clientTop clientLeft clientWidth clientHeight scrollTop scrollLeft scrollWidth
scrollHeight scrollX scrollY pageXOffset pageYOffset innerWidth innerHeight outerWidth outerHeight naturalWidth naturalHeight
devicePixelRatio tabIndex size timeStamp`,
	givesInert: `checked disabled selected hidden required readOnly multiple isConnected defaultChecked complete ended paused dataset style
classList attributes children childNodes cells rows options selectedOptions firstChild lastChild firstElementChild
lastElementChild nextSibling previousSibling nextElementSibling previousElementSibling parentNode parentElement body head
documentElement shadowRoot links images forms scripts tBodies tHead tFoot valueAsNumber valueAsDate width height top left right
bottom x y`,
})

// methodGives is what the methods give, natively.
var methodGives = table(map[gives]string{
	givesInert | givesText: `trim trimStart trimEnd toLowerCase toUpperCase toLocaleLowerCase toLocaleUpperCase substring substr charAt
padStart padEnd repeat normalize getAttribute getItem key join toFixed toPrecision toISOString toDateString toLocaleDateString
toLocaleTimeString toLocaleString getPropertyValue randomUUID`,
	givesInert | givesNumber: `indexOf lastIndexOf search charCodeAt codePointAt localeCompare push unshift getTime getFullYear getMonth getDate
getDay getHours getMinutes getSeconds getMilliseconds findIndex findLastIndex now compareDocumentPosition`,
	givesInert: `split slice match querySelector querySelectorAll getElementById getElementsByClassName getElementsByTagName
getElementsByName closest matches contains getBoundingClientRect getClientRects hasAttribute getAttributeNames includes
startsWith endsWith test map filter flatMap flat some every forEach sort reverse concat toString matchAll hasOwnProperty format`,
})

// functionGives is what the global functions give.
var functionGives = table(map[gives]string{
	givesInert | givesText:   "String encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape atob btoa",
	givesInert | givesNumber: "Number parseInt parseFloat",
	givesInert:               "Boolean BigInt Symbol isNaN isFinite Date RegExp Error setTimeout setInterval requestAnimationFrame getComputedStyle matchMedia getSelection",
	givesInert | givesOwn:    "structuredClone Array",
})

// namespaceGives is what the functions of the namespaces give.
var namespaceGives = table(map[gives]string{
	givesInert | givesOwn: `JSON.parse Object.keys Object.values Object.entries Object.getOwnPropertyNames Object.create Object.assign
Object.fromEntries Array.from Array.of`,
	givesInert | givesText:   "JSON.stringify String.fromCharCode String.fromCodePoint String.raw crypto.randomUUID CSS.escape",
	givesInert | givesNumber: "Date.now Date.parse Date.UTC Number.parseInt Number.parseFloat performance.now",
	givesInert:               "Object.is Object.hasOwn Array.isArray Number.isInteger Number.isFinite Number.isNaN Symbol.for",
})

// harmless are properties of elements that load nothing when they are set,
// whatever they are set to.
var harmless = set(`value checked selected selectedIndex disabled readOnly required hidden scrollTop scrollLeft tabIndex indeterminate
valueAsNumber valueAsDate defaultValue defaultChecked placeholder title lang dir open selectionStart selectionEnd currentTime muted
volume returnValue`)

// drawing are methods that change the document, or what it looks like, in a way
// that may load something; and those that hand on what they are given.
var drawing = set(`append appendChild prepend before after insertBefore insertAdjacentHTML insertAdjacentElement insertAdjacentText
replaceWith replaceChild replaceChildren setAttribute setAttributeNS setAttributeNode setAttributeNodeNS toggleAttribute
removeAttribute removeAttributeNS setNamedItem setNamedItemNS setProperty insertRule addRule replace replaceSync setHTML
setHTMLUnsafe createContextualFragment cloneNode importNode adoptNode execCommand write writeln open add toggle set assign
animate setKeyframes load play insertNode surroundContents insertData appendData replaceData showPopover moveBefore
defineProperty defineProperties setPrototypeOf __defineSetter__ __defineGetter__ Image Audio Option FontFace remove`)

// storing are methods that may put anything under any name.
var storing = set("defineProperty defineProperties setPrototypeOf __defineSetter__ __defineGetter__ fromEntries")

package facts

import "strings"

// nativeResult is the type of value that a native name yields on whatever
// object.
type nativeResult uint8

const (
	yieldsInert   nativeResult = 1 << iota // nothing that can be called
	yieldsText                             // a string, null or undefined
	yieldsNumber                           // a number
	yieldsOwn                              // a fresh object or array
	yieldsUnknown nativeResult = 0         // nothing is known
)

func (g nativeResult) has(what property) bool {
	switch what {
	case inert:
		return g != yieldsUnknown
	case textual:
		return g&yieldsText != 0
	case numeric:
		return g&yieldsNumber != 0
	case own:
		return g&yieldsOwn != 0
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

func table(rows map[nativeResult]string) map[string]nativeResult {
	m := map[string]nativeResult{}
	for g, words := range rows {
		for _, w := range strings.Fields(words) {
			m[w] |= g
		}
	}
	return m
}

// readingMethods are methods that read, compute, wait or scroll, and that call
// none of their arguments.
//
// This table and those below are valid for all interfaces of the browser and
// the language that have a member with the name. A name that has side effects
// on any of them is not listed here, such as replace (of String and Location)
// or add (of Set and Cache).
var readingMethods = set(`
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

// commandNames are those of readingMethods and callbackMethods that an application may well
// have as the names of its own commands, or that change the object, which a page may watch.
var commandNames = set(`push pop shift unshift reverse fill splice sort search next repeat setItem removeItem`)

// callbackMethods are methods that call their first arguments, with the number
// of these.
var callbackMethods = map[string]int{
	"map": 1, "filter": 1, "forEach": 1, "find": 1, "findLast": 1, "findIndex": 1, "findLastIndex": 1, "some": 1, "every": 1,
	"flatMap": 1, "reduce": 1, "reduceRight": 1, "sort": 1, "then": 2, "catch": 1, "finally": 1,
}

var (
	// collectionMethods are methods that only read and write a Map, Set or
	// URLSearchParams, but may do something else on other objects.
	collectionMethods = set("get set add has delete clear size append")
	collections       = set("Map Set WeakMap WeakSet URLSearchParams")
)

// markingMethods are methods that only set or remove an attribute. With the name of the mark
// attribute, by which rote's own scripts mark an element for the operation that follows, the
// browser loads nothing and calls no handler of the script.
var markingMethods = set("setAttribute removeAttribute")

const markAttribute = "data-rote-mark"

func isMethod(name string) bool {
	return markingMethods[name] || readingMethods[name] || callbackMethods[name] > 0 || collectionMethods[name] || name == "replace" || name == "replaceAll" ||
		name == "bind" || name == "call" || name == "apply"
}

// implicitNames are names that the language itself calls or follows.
var implicitNames = set(`then toJSON toString valueOf constructor __proto__ prototype next return throw done exec join flags source raw
has keys size length get set value`)

// readingFunctions are globals that read, compute or wait, and call nothing.
var readingFunctions = set(`String Number Boolean BigInt Symbol parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent
encodeURI decodeURI escape unescape atob btoa Date RegExp Error TypeError RangeError Array structuredClone getComputedStyle matchMedia
getSelection clearTimeout clearInterval cancelAnimationFrame cancelIdleCallback scrollTo scrollBy scroll`)

// pureFunctions are those of readingFunctions that are safe as a callback.
var pureFunctions = set("String Number Boolean parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent")

// timers call their first argument later.
var timers = set("setTimeout setInterval requestAnimationFrame requestIdleCallback queueMicrotask")

// pureConstructors create objects that only hold or compute values.
var pureConstructors = set(`Map Set WeakMap WeakSet WeakRef Date RegExp Error TypeError RangeError URL URLSearchParams Array Object Promise
DOMParser TextEncoder TextDecoder Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array Float64Array
ArrayBuffer DataView AbortController XPathEvaluator`)

// namespaces are global objects with all their functions that may be called.
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

// propertyTypes are the types of the browser's properties with these names, on
// whatever object.
var propertyTypes = table(map[nativeResult]string{
	yieldsInert | yieldsText: `textContent innerText innerHTML outerHTML outerText id className tagName nodeName localName nodeValue href src alt
title name placeholder lang dir rel type action method hash host hostname origin pathname port protocol search cookie
referrer readyState URL baseURI documentURI userAgent language platform content currentSrc srcset label htmlFor text wholeText
accept pattern min max step cssText message coords charset characterSet contentType domain lastModified visibilityState
responseText statusText key code`,
	yieldsInert | yieldsNumber: `length nodeType childElementCount rowIndex cellIndex sectionRowIndex colSpan rowSpan selectedIndex index lastIndex
offsetTop offsetLeft offsetWidth offsetHeight clientTop clientLeft clientWidth clientHeight scrollTop scrollLeft scrollWidth
scrollHeight scrollX scrollY pageXOffset pageYOffset innerWidth innerHeight outerWidth outerHeight naturalWidth naturalHeight
devicePixelRatio tabIndex size timeStamp`,
	yieldsInert: `checked disabled selected hidden required readOnly multiple isConnected defaultChecked complete ended paused dataset style
classList attributes children childNodes cells rows options selectedOptions firstChild lastChild firstElementChild
lastElementChild nextSibling previousSibling nextElementSibling previousElementSibling parentNode parentElement body head
documentElement shadowRoot links images forms scripts tBodies tHead tFoot valueAsNumber valueAsDate width height top left right
bottom x y`,
})

// methodResults are the result types of native methods.
var methodResults = table(map[nativeResult]string{
	yieldsInert | yieldsText: `trim trimStart trimEnd toLowerCase toUpperCase toLocaleLowerCase toLocaleUpperCase substring substr charAt
padStart padEnd repeat normalize getAttribute getItem key join toFixed toPrecision toISOString toDateString toLocaleDateString
toLocaleTimeString toLocaleString getPropertyValue randomUUID`,
	yieldsInert | yieldsNumber: `indexOf lastIndexOf search charCodeAt codePointAt localeCompare push unshift getTime getFullYear getMonth getDate
getDay getHours getMinutes getSeconds getMilliseconds findIndex findLastIndex now compareDocumentPosition`,
	yieldsInert: `split slice match querySelector querySelectorAll getElementById getElementsByClassName getElementsByTagName
getElementsByName closest matches contains getBoundingClientRect getClientRects hasAttribute getAttributeNames includes
startsWith endsWith test map filter flatMap flat some every forEach sort reverse concat toString matchAll hasOwnProperty format`,
})

// functionResults are the result types of global functions.
var functionResults = table(map[nativeResult]string{
	yieldsInert | yieldsText:   "String encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape atob btoa",
	yieldsInert | yieldsNumber: "Number parseInt parseFloat",
	yieldsInert: "Boolean BigInt Symbol isNaN isFinite Date RegExp Error " +
		"setTimeout setInterval requestAnimationFrame getComputedStyle matchMedia getSelection",
	yieldsInert | yieldsOwn: "structuredClone Array",
})

// namespaceResults are the result types of the functions of namespaces.
var namespaceResults = table(map[nativeResult]string{
	yieldsInert | yieldsOwn: `JSON.parse Object.keys Object.values Object.entries Object.getOwnPropertyNames Object.create Object.assign
Object.fromEntries Array.from Array.of`,
	yieldsInert | yieldsText:   "JSON.stringify String.fromCharCode String.fromCodePoint String.raw crypto.randomUUID CSS.escape",
	yieldsInert | yieldsNumber: "Date.now Date.parse Date.UTC Number.parseInt Number.parseFloat performance.now",
	yieldsInert:                "Object.is Object.hasOwn Array.isArray Number.isInteger Number.isFinite Number.isNaN Symbol.for",
})

// harmlessProperties are properties of elements that load nothing, whatever
// they are set to.
var harmlessProperties = set(`value checked selected selectedIndex disabled readOnly required hidden scrollTop scrollLeft tabIndex indeterminate
valueAsNumber valueAsDate defaultValue defaultChecked placeholder title lang dir open selectionStart selectionEnd currentTime muted
volume returnValue`)

// drawingMethods are methods that change the document or its appearance in a
// way that may load something, and methods that pass on their arguments to
// these.
var drawingMethods = set(`append appendChild prepend before after insertBefore insertAdjacentHTML insertAdjacentElement insertAdjacentText
replaceWith replaceChild replaceChildren setAttribute setAttributeNS setAttributeNode setAttributeNodeNS toggleAttribute
removeAttribute removeAttributeNS setNamedItem setNamedItemNS setProperty insertRule addRule replace replaceSync setHTML
setHTMLUnsafe createContextualFragment cloneNode importNode adoptNode execCommand write writeln open add toggle set assign
animate setKeyframes load play insertNode surroundContents insertData appendData replaceData showPopover moveBefore
defineProperty defineProperties setPrototypeOf __defineSetter__ __defineGetter__ Image Audio Option FontFace remove`)

// storingMethods are methods that may store any value under any name.
var storingMethods = set("defineProperty defineProperties setPrototypeOf __defineSetter__ __defineGetter__ fromEntries")

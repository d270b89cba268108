package browser

import _ "embed"

//go:embed record.js
var recordSource string

// RecorderWorld is the name of the isolated world of [RecorderScript].
const RecorderWorld = "recorder"

// RecorderBinding is the name of the function with which that script reports what a person does,
// as the JSON of a recording.Event. It exists in the recorder's world only.
const RecorderBinding = "roteRecorded"

// RecorderScript reports what a person does in a frame. It is for each new document of a browser
// with a window, in a world of its own.
func RecorderScript() string {
	tools := withElements("({ elements, described: (" + describeSource + "), looked: (listsOf => (" + lookSource + "))(" + lookListSource + ") })")
	return helperScript + ";\nif (!globalThis.roteTools) (" + withoutComments(recordSource) + ")(() => " + tools + ")"
}

//go:build !race

package optional

const raceDetector = false

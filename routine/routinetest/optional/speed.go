//go:build speed

package optional

const speedTag = true

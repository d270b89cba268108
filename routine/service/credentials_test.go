package service_test

import (
	"fmt"
	"strings"
	"testing"

	"rote/routine"
	"rote/routine/routinetest"
)

// A 401 says how credentials are given, whichever operation met it, and shows
// none of those that were given.
func TestUnauthorizedSaysHowCredentialsAreGiven(t *testing.T) {
	const way = "It needs credentials: set an Authorization header on fetch or download, navigate to https://user:password@host/, or log in on the site first."
	for _, row := range []struct {
		name, operation string
		status          int
		want            string
	}{
		{"navigate", `{"type":"navigate","url":"https://ada:byron@shop.test/in"}`, 401, "https://shop.test/in answered with HTTP status 401. " + way},
		{"fetch", `{"type":"fetch","endpoint":{"url":"https://ada:byron@shop.test/in"}}`, 401, "https://shop.test/in answered with HTTP status 401. " + way},
		{"download", `{"type":"download","endpoint":{"url":"https://ada:byron@shop.test/in"},"filename":"x"}`, 401,
			"https://shop.test/in answered with HTTP status 401. " + way},
		{"another status", `{"type":"navigate","url":"https://ada:byron@shop.test/in"}`, 403, "https://shop.test/in answered with HTTP status 403"},
	} {
		t.Run(row.name, func(t *testing.T) {
			page := routinetest.Page{Status: row.status, Response: routine.Response{URL: "https://shop.test/in", Status: row.status}}
			e, err := runOnce(t, page, row.operation, "", `{}`)
			said := fmt.Sprint(e.Result.Warnings)
			if row.name == "download" {
				if routine.CodeOf(err) != routine.CodeHTTPError {
					t.Fatal(err)
				}
				said = fmt.Sprint(err)
			}
			if !strings.Contains(said, row.want) || row.status != 401 && strings.Contains(said, "credentials") || strings.Contains(said, "byron") {
				t.Errorf("%s", said)
			}
			if details := fmt.Sprint(e.Result.OperationsMetadata[0].Details); strings.Contains(details, "byron") {
				t.Errorf("details %s", details)
			}
		})
	}
}

// No browser fetches a URL that carries credentials, so they go into a header.
func TestFetchTakesCredentialsFromTheURL(t *testing.T) {
	const header = "map[authorization:Basic YWRhOmJ5cm9u]"
	for _, row := range []struct{ name, endpoint, want string }{
		{"user and password", `"url":"https://{{user}}:{{password}}@shop.test/a%2Fb?next=https://x@y.test/"`,
			"fetch GET https://shop.test/a%2Fb?next=https://x@y.test/ " + header + " no body"},
		{"a header wins", `"url":"https://{{user}}:{{password}}@shop.test/","headers":{"AUTHORIZATION":"Bearer t"}`,
			"fetch GET https://shop.test/ map[AUTHORIZATION:Bearer t] no body"},
		{"a user alone", `"url":"https://ada@shop.test/"`, "fetch GET https://shop.test/ map[authorization:Basic YWRhOg==] no body"},
		{"encoded", `"url":"https://a%3Ab:p%40%25@shop.test/"`, "fetch GET https://shop.test/ map[authorization:Basic YTpiOnBAJQ==] no body"},
		{"not encoded", `"url":"https://ada:p@s%s@shop.test/"`, "fetch GET https://shop.test/ map[authorization:Basic YWRhOnBAcyVz] no body"},
		{"another URL's", `"url":"https://shop.test/?next=https://ada:b@c.test/"`, "fetch GET https://shop.test/?next=https://ada:b@c.test/ map[] no body"},
		{"none", `"url":"https://shop.test/@a:b@c"`, "fetch GET https://shop.test/@a:b@c map[] no body"},
		{"a relative URL", `"url":"/a:b@c"`, "fetch GET /a:b@c map[] no body"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var did []string
			page := routinetest.Page{Actions: &did, Response: routine.Response{URL: "https://shop.test/", Status: 200}}
			_, err := runOnce(t, page, `{"type":"fetch","endpoint":{`+row.endpoint+`}}`,
				`{"name":"user","default":"ada"},{"name":"password","x-secret":true}`, `{"password":"byron"}`)
			if err != nil || strings.Join(did, "\n") != row.want {
				t.Errorf("%v\n%s, want\n%s", err, strings.Join(did, "\n"), row.want)
			}
		})
	}
}

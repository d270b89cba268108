package httpapi_test

import (
	"strings"
	"testing"
)

func TestSecrets(t *testing.T) {
	e := newEnv(t)
	const value = "hunter2-very-secret"
	body := `{"hosts": ["shop.example"], "value": "` + value + `"}`
	hidden := []string{value, "terces-yrev"}
	runAll(t, e, []scenario{
		{"without a token", "PUT", "/secrets/shop", "", nil, body, 401, nil, hidden},
		{"without the scope", "PUT", "/secrets/shop", "$guest", nil, body, 403, []string{"secrets:write"}, hidden},
		{"no JSON", "PUT", "/secrets/shop", "$keeper", map[string]string{"Content-Type": "text/plain"}, body, 415, nil, hidden},
		{"broken JSON", "PUT", "/secrets/shop", "$keeper", nil, body + "}", 400, []string{`"code":"json_syntax"`}, hidden},
		{"a name that is none", "PUT", "/secrets/a.b", "$keeper", nil, body, 400, []string{"cannot be the name of a secret"}, hidden},
		{"a new one", "PUT", "/secrets/shop", "$keeper", map[string]string{"Idempotency-Key": "k"}, body, 201, []string{`"version":1`}, hidden},
		{"the same again", "PUT", "/secrets/shop", "$keeper", map[string]string{"Idempotency-Key": "k"}, body, 200, []string{`"version":2`}, hidden},
		{"a wrong condition", "PUT", "/secrets/shop", "$keeper", map[string]string{"If-None-Match": `"1"`}, body, 400,
			[]string{"If-None-Match can only be *"}, hidden},
		{"not changed since", "GET", "/secrets/shop", "$keeper", map[string]string{"If-None-Match": `"2"`}, "", 304, nil, hidden},
		{"exactly that of the organization", "GET", "/secrets/shop?project=false", "$keeper", nil, "", 404, []string{`"code":"not_found"`}, hidden},
		{"of another organization", "GET", "/secrets/shop", "$guest", nil, "", 404, nil, hidden},
		{"a list of another organization", "GET", "/secrets", "$guest", nil, "", 200, []string{`"total":0`}, hidden},
		{"an unknown query", "GET", "/secrets/shop?projects=false", "$keeper", nil, "", 400, []string{"project"}, hidden},
		{"uses", "GET", "/secrets/shop/uses?limit=1", "$keeper", nil, "", 200, []string{`"what":"saved"`, `"total":2`, `"user_id":"admin"`, `"via":"rest"`}, hidden},
		{"a list with an unknown query", "GET", "/secrets?project=false", "$keeper", nil, "", 400, []string{"project"}, hidden},
		{"uses with a limit that is none", "GET", "/secrets/shop/uses?limit=0", "$keeper", nil, "", 400, []string{"limit"}, hidden},
		{"uses of none", "GET", "/secrets/other/uses", "$keeper", nil, "", 404, nil, hidden},
		{"a code without the scope", "POST", "/secrets/shop/codes", "$guest", nil, `{"code": "` + value + `"}`, 403, []string{"secrets:write"}, hidden},
		{"a code without a token", "POST", "/secrets/shop/codes", "", nil, `{"code": "` + value + `"}`, 401, nil, hidden},
		{"a code that is no JSON", "POST", "/secrets/shop/codes", "$keeper", map[string]string{"Content-Type": "text/plain"}, value, 415, nil, hidden},
		{"no code", "POST", "/secrets/shop/codes", "$keeper", nil, `{"code": "` + value + `!"}`, 400, []string{"1 to 64 letters"}, hidden},
		{"a code of no secret", "POST", "/secrets/other/codes", "$keeper", nil, `{"code": "` + value + `"}`, 404, nil, hidden},
		{"a long code", "POST", "/secrets/shop/codes", "$keeper", nil, `{"code": "` + strings.Repeat("1", 5<<20) + `"}`, 413, nil, nil},
		{"a code", "POST", "/secrets/shop/codes", "$keeper", nil, `{"code": "` + value + `"}`, 204, nil, hidden},
		{"the use", "GET", "/secrets/shop/uses?limit=1", "$keeper", nil, "", 200, []string{`"what":"code given"`}, hidden},
		{"delete that of the organization", "DELETE", "/secrets/shop?project=false", "$keeper", nil, "", 403, nil, hidden},
		{"delete of another organization", "DELETE", "/secrets/shop", "$guest", nil, "", 403, nil, hidden},
		{"delete with an unknown query", "DELETE", "/secrets/shop?projects=false", "$keeper", nil, "", 400, []string{"project"}, hidden},
		{"delete", "DELETE", "/secrets/shop", "$keeper", nil, "", 204, nil, hidden},
		{"delete again", "DELETE", "/secrets/shop", "$keeper", nil, "", 404, nil, hidden},
		{"uses of a deleted one", "GET", "/secrets/shop/uses?project=true", "$keeper", nil, "", 200, []string{`"what":"deleted"`}, hidden},
		{"another method", "POST", "/secrets/shop", "$keeper", nil, body, 405, nil, hidden},
	})
	if log := strings.Join(e.lines(), ""); strings.Contains(log, value) || strings.Contains(log, "shop.example") || !strings.Contains(log, "/secrets/{name}") {
		t.Errorf("the log has something of a body:\n%s", log)
	}
}

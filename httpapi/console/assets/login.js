// @ts-check
// The address that rote prints at its first start has the token in its fragment, which no
// server and no log sees. It is moved into the field and out of the address.
const field = /** @type {HTMLInputElement?} */ (document.getElementById("token"))
if (field && location.hash.startsWith("#rote_")) {
  field.value = location.hash.slice(1)
  history.replaceState(null, "", location.pathname + location.search)
}
export {}

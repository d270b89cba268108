// @ts-check
// What all pages share: copying, shortcuts, local times and busy buttons. All of it is a
// convenience: links and forms work without it.

/** announce tells a screen reader. @param {string} text */
export const announce = text => {
  const place = document.getElementById("say")
  if (place) place.textContent = text
}

/** policy lets only the server's own HTML into the page: it escapes all texts. */
const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("rote", {createHTML: (/** @type {string} */ html) => html})

/** parse returns the elements of HTML that the server has rendered. @param {string} html */
export const parse = html => {
  const template = document.createElement("template")
  template.innerHTML = policy?.createHTML(html) ?? html
  return template.content
}

/** showLocalTimes writes the times below root in the time zone of the browser. @param {ParentNode} root */
export const showLocalTimes = root => {
  if (document.documentElement.dataset.times === "utc") return
  const format = new Intl.DateTimeFormat("en-GB", {dateStyle: "medium", timeStyle: "medium"})
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(/** @type {HTMLTimeElement} */ (time).dateTime)
    const offset = -at.getTimezoneOffset()
    const pad = (/** @type {number} */ n) => String(Math.floor(Math.abs(n))).padStart(2, "0")
    time.textContent = `${format.format(at)} (${offset < 0 ? "−" : "+"}${pad(offset / 60)}:${pad(offset % 60)})`
  }
}
showLocalTimes(document)

document.addEventListener("click", async event => {
  const button = /** @type {Element} */ (event.target).closest("[data-copy], [data-copy-text]")
  if (!(button instanceof HTMLElement)) return
  const source = button.dataset.copy ? document.querySelector(button.dataset.copy) : null
  try {
    await navigator.clipboard.writeText(button.dataset.copyText ?? source?.textContent ?? "")
    button.dataset.copied = "yes"
    announce("copied")
  } catch {
    button.dataset.copied = "no"
    announce("the browser does not let this page copy: select the text and copy it")
  }
})

// A form is sent once: a second click would start a second run.
document.addEventListener("submit", event => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  if (form.method === "dialog") return
  if (form.dataset.sent) {
    event.preventDefault()
    return
  }
  form.dataset.sent = "yes"
  event.submitter?.setAttribute("aria-busy", "true")
})
// A page that comes back from the history can be sent again.
addEventListener("pageshow", () => {
  for (const form of document.forms) {
    delete form.dataset.sent
    form.querySelector("[aria-busy]")?.removeAttribute("aria-busy")
  }
})

const base = document.querySelector(".brand")?.getAttribute("href") ?? "/"
/** @param {string} path */
const go = path => { location.href = base + path }

/** move makes another row of the list the current one. @param {number} by */
const move = by => {
  const rows = [...document.querySelectorAll("table.rows tbody tr")]
  if (!rows.length) return
  const at = rows.findIndex(row => row.contains(document.activeElement))
  const row = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]
  row.querySelector("a")?.focus()
}

/** @type {Record<string, () => void>} */
const keys = {
  "?": () => /** @type {HTMLDialogElement?} */ (document.getElementById("keys"))?.showModal(),
  "/": () => /** @type {HTMLElement?} */ (document.querySelector("[type=search]"))?.focus(),
  n: () => go("routines/new"),
  j: () => move(1),
  k: () => move(-1),
  "g r": () => go("routines"),
  "g e": () => go("executions"),
  "g t": () => go("tokens"),
  "g h": () => go("health"),
}

let before = ""
document.addEventListener("keydown", event => {
  const at = /** @type {Element} */ (event.target)
  if (document.documentElement.dataset.keys === "off" || event.ctrlKey || event.metaKey || event.altKey) return
  if (at.closest("input, textarea, select, dialog, rote-editor, [contenteditable]")) return
  const key = before + event.key
  before = event.key === "g" ? "g " : ""
  const button = /** @type {HTMLElement?} */ (document.querySelector(`[data-key="${CSS.escape(key)}"]:not([disabled])`))
  if (!button && !keys[key]) return
  event.preventDefault()
  if (button) button.click()
  else keys[key]()
})

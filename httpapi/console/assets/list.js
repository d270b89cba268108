// @ts-check
// The list of executions: rows of the page are kept up to date, new ones are shown when somebody
// wants them, so that the list does not move while it is read.
import {parse, showLocalTimes} from "./console.js"

const interval = 5000 // milliseconds
const live = /** @type {HTMLInputElement?} */ (document.getElementById("live"))
const show = document.getElementById("show-new")

/** @type {Element?} */
let latest = null

const rows = () => document.querySelector("#executions tbody")

/** showLatest puts the latest rows in the place of all. */
const showLatest = () => {
  if (latest) rows()?.replaceWith(latest)
  latest = null
  if (show) show.hidden = true
}

const update = async () => {
  if (document.hidden) return
  const answer = await fetch(location.href)
  const body = answer.ok ? parse(await answer.text()).querySelector("#executions tbody") : null
  if (!body) return
  showLocalTimes(body)
  let added = 0
  for (const row of [...body.children]) {
    const old = document.getElementById(row.id)
    if (!old) added++
    else if (!old.contains(document.activeElement)) old.replaceWith(row.cloneNode(true))
  }
  latest = body
  if (!show || !added) return
  show.textContent = `${added} new ${added === 1 ? "run" : "runs"} — show`
  show.hidden = false
  if (live?.checked && !rows()?.contains(document.activeElement)) showLatest()
}

// Only the first page has new runs.
if (rows() && !new URLSearchParams(location.search).has("before")) {
  document.getElementById("live-list")?.removeAttribute("hidden")
  show?.addEventListener("click", showLatest)
  setInterval(() => update().catch(() => {}), interval)
}

// @ts-check
// The page of a run that has not ended: rows are replaced by what the server sends.
import {announce, parse, showLocalTimes} from "./console.js"

const root = /** @type {HTMLElement?} */ (document.querySelector("[data-live]"))
const state = document.getElementById("live-state")
/** @type {EventSource?} */
let source = null
let heard = new Date()

/** replace puts elements in the place of those with their ids. @param {string} html */
const replace = html => {
  heard = new Date()
  if (state) state.hidden = true
  for (const element of [...parse(html).children]) {
    const old = document.getElementById(element.id)
    // Details that somebody has opened stay open.
    if (old?.querySelector("details[open]")) element.querySelector("details")?.setAttribute("open", "")
    showLocalTimes(element)
    if (old) old.replaceWith(element)
    else document.querySelector(".operations tbody")?.append(element)
  }
  startClocks()
}

/** startClocks remembers when each clock was right. */
const startClocks = () => {
  for (const clock of document.querySelectorAll("[data-elapsed]:not([data-at])")) {
    /** @type {HTMLElement} */ (clock).dataset.at = String(performance.now())
  }
}

setInterval(() => {
  for (const clock of document.querySelectorAll("[data-at]")) {
    const {elapsed, at} = /** @type {HTMLElement} */ (clock).dataset
    clock.textContent = `${(Number(elapsed) + (performance.now() - Number(at)) / 1000).toFixed(1)} s`
  }
}, 100)

/** showEnd loads the page of the run that has ended, with its result. @param {string} status */
const showEnd = async status => {
  close()
  const answer = await fetch(location.href)
  const main = parse(await answer.text()).querySelector("main")
  if (!answer.ok || !main) {
    location.reload()
    return
  }
  showLocalTimes(main)
  document.getElementById("main")?.replaceChildren(...main.childNodes)
  announce(`the run has ${status}`)
}

const close = () => {
  source?.close()
  source = null
}

const open = () => {
  if (source || !root?.isConnected) return
  source = new EventSource(root.dataset.live ?? "")
  source.addEventListener("rows", event => replace(event.data))
  source.addEventListener("head", event => replace(event.data))
  source.addEventListener("end", event => showEnd(event.data))
  source.addEventListener("error", () => {
    if (!state) return
    state.textContent = `connection lost, showing ${heard.toLocaleTimeString("en-GB")}`
    state.hidden = false
  })
}

// A browser has six connections to a server: a tab that nobody sees does not keep one.
document.addEventListener("visibilitychange", () => document.hidden ? close() : open())
addEventListener("pagehide", close)
startClocks()
if (!document.hidden) open()

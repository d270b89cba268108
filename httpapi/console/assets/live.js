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

// The live view: while somebody looks, a picture is fetched each second.
const view = /** @type {HTMLDetailsElement?} */ (document.getElementById("live-view"))
const pictureInterval = 1000 // milliseconds
let asking = false

/** @param {Blob} blob @returns {Promise<string>} */
const dataURL = blob => new Promise((resolve, reject) => {
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(blob)
})

const showPicture = async () => {
  if (asking || !view?.open || !view.isConnected || document.hidden) return
  asking = true
  try {
    const answer = await fetch(view.dataset.picture ?? "")
    const isPicture = answer.ok && answer.headers.get("Content-Type") === "image/jpeg"
    const why = document.getElementById("live-view-state")
    const image = view.querySelector("img")
    if (isPicture && image) {
      image.src = await dataURL(await answer.blob())
      image.hidden = false
    }
    if (why) {
      why.textContent = isPicture ? "" : answer.ok ? await answer.text() : "The picture cannot be read: reload the page."
      why.hidden = isPicture
    }
  } finally {
    asking = false
  }
}

if (view) {
  view.addEventListener("toggle", () => showPicture().catch(() => {}))
  setInterval(() => showPicture().catch(() => {}), pictureInterval)
}

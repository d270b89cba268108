// @ts-check
// The page of a run that has not ended: rows are replaced by what the server sends. A browser
// keeps six connections to a server, and a stream takes one of them. So four pages at most have
// a stream; the others ask for what is new until one of the four is closed or hidden.
import {announce, parse, showLocalTimes} from "./console.js"

const root = /** @type {HTMLElement?} */ (document.querySelector("[data-live]"))
const state = document.getElementById("live-state")
/** @type {EventSource?} */
let source = null
let heard = new Date()
const streams = 4
const askInterval = 2000 // milliseconds

/** replace puts elements in the place of those with their ids. @param {Iterable<Element>} elements */
const replace = elements => {
  heard = new Date()
  if (state) state.hidden = true
  for (const element of [...elements]) {
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

/** load returns the page of the run as it is now. If there is another page now, as that of the sign-in, it is shown. */
const load = async () => {
  const answer = await fetch(location.href)
  if (answer.status >= 500) throw new Error(answer.statusText)
  const main = parse(await answer.text()).querySelector("main")
  if (answer.ok && !answer.redirected && main) return main
  location.reload()
  return null
}

/** showEnd shows the page of the run that has ended, with its result. @param {HTMLElement?} main @param {string} status */
const showEnd = (main, status) => {
  close()
  if (!main) return
  showLocalTimes(main)
  document.getElementById("main")?.replaceChildren(...main.childNodes)
  announce(`the run has ${status}`)
}

/** @type {(() => void)?} */
let freePlace = null

/** takePlace reports whether this page may have a stream. It keeps the place until close. */
const takePlace = async () => {
  if (!navigator.locks) return true
  for (let n = 0; n < streams && !freePlace; n++) {
    await new Promise(resolve => navigator.locks.request(`rote-live-${n}`, {ifAvailable: true}, lock => {
      const ended = lock ? new Promise(free => { freePlace = () => free(null) }) : null
      resolve(null)
      return ended
    }))
  }
  return !!freePlace
}

const close = () => {
  source?.close()
  source = null
  freePlace?.()
  freePlace = null
}

const showLoss = () => {
  if (!state) return
  state.textContent = `connection lost, showing ${heard.toLocaleTimeString("en-GB")}`
  state.hidden = false
}

/** ask replaces the rows by those of the page as it is now. */
const ask = async () => {
  const main = await load()
  if (main?.querySelector("[data-live]")) replace(main.querySelectorAll("#run-status, .operations tbody tr"))
  else showEnd(main, main?.querySelector("#run-status .status")?.textContent ?? "ended")
}

const listen = () => {
  source = new EventSource(root?.dataset.live ?? "")
  source.addEventListener("rows", event => replace(parse(event.data).children))
  source.addEventListener("head", event => replace(parse(event.data).children))
  source.addEventListener("end", async event => {
    close()
    try {
      showEnd(await load(), event.data)
    } catch {
      showLoss()
    }
  })
  source.addEventListener("error", () => {
    showLoss()
    // A browser gives up after an error status, as of a proxy whose server is being restarted.
    if (source?.readyState === EventSource.CLOSED) close()
  })
}

const isFollowed = () => root?.isConnected && !document.hidden
let isOpening = false

const open = async () => {
  if (source || isOpening || !isFollowed()) return
  isOpening = true
  try {
    if (!await takePlace()) await ask()
    else if (isFollowed()) listen()
    else close()
  } catch {
    showLoss()
  } finally {
    isOpening = false
  }
}

// A tab that nobody sees keeps no connection.
document.addEventListener("visibilitychange", () => document.hidden ? close() : open())
addEventListener("pagehide", close)
addEventListener("pageshow", open)
setInterval(open, askInterval)
startClocks()
open()

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

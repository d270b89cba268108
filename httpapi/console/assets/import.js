// @ts-check
// A recording that is dropped on the page is imported, as one that is chosen in the form.
import {announce} from "./console.js"

const form = /** @type {HTMLFormElement?} */ (document.querySelector("form[data-drop]"))
const input = /** @type {HTMLInputElement?} */ (form?.querySelector("input[type=file]") ?? null)

/** hasFile reports whether something that is dragged is a file. @param {DragEvent} event */
const hasFile = event => event.dataTransfer?.types.includes("Files") ?? false

/** show marks the page while a file is over it. @param {boolean} over */
const show = over => document.body.classList.toggle("dropping", over)

if (form && input) {
  document.querySelector("[data-drop-hint]")?.removeAttribute("hidden")
  addEventListener("dragover", event => {
    if (!hasFile(event)) return
    event.preventDefault()
    show(true)
  })
  addEventListener("dragleave", event => {
    if (!event.relatedTarget) show(false)
  })
  addEventListener("drop", event => {
    if (!hasFile(event) || !event.dataTransfer) return
    event.preventDefault()
    show(false)
    if (event.dataTransfer.files.length !== 1) {
      announce("drop one file at a time")
      return
    }
    input.files = event.dataTransfer.files
    announce(`${input.files[0].name} is imported`)
    form.requestSubmit()
  })
}

// @ts-check
// The problems of a definition: asked of the checker while the text is written, marked at their
// places, and listed.
import {EditorView, StateEffect, forEachDiagnostic, linter, nextDiagnostic, setDiagnosticsEffect} from "./vendor/codemirror.js"
import {endOf, find, parse} from "./json_text.js"
import {button, element} from "./editor_look.js"

/**
 * A problem as the checker answers it. Line and column count from 1, in code points; without
 * them the pointer names the place.
 * @typedef {{line?: number, column?: number, pointer?: string, message: string, hint?: string, severity: "error" | "warning"}} Problem
 */
/** @typedef {import("./vendor/codemirror.js").Diagnostic & {problem: Problem}} Marked */

/** Milliseconds without a change of the text before it is checked. */
const delay = 300

/** Checks the text again, though it has not changed. */
const recheck = StateEffect.define()

/**
 * Returns the part of a text that a problem is about: from its place to the end of the key or
 * value there, in one line.
 * @param {import("./vendor/codemirror.js").Text} doc @param {string} text The same, as a string.
 * @param {import("./json_text.js").Value} root @param {Problem} p
 */
export function placeOf(doc, text, root, p) {
  if (!p.line) {
    const v = find(text, p.pointer ?? "")
    return {from: v.from, to: Math.min(v.to, doc.lineAt(v.from).to)}
  }
  const line = doc.line(Math.min(Math.max(p.line, 1), doc.lines))
  const before = Array.from(line.text).slice(0, Math.max((p.column ?? 1) - 1, 0)).join("")
  const from = line.from + before.length
  return {from, to: Math.max(from, Math.min(endOf(root, from), line.to))}
}

/** A problem in one line. @param {Problem} p */
export const say = p => {
  const place = p.line ? ` ${p.line}:${p.column}` : ""
  return `${p.severity === "error" ? "Error" : "Warning"}${place}: ${p.message}${p.hint ? `; ${p.hint}` : ""}`
}

export class Problems {
  /** @param {string} url Where texts are checked; empty for nowhere. */
  constructor(url) {
    this.url = url
    this.summary = element("p", {})
    this.list = element("ol", {})
    this.again = button("Check again", () => this.view?.dispatch({effects: recheck.of(null)}))
    this.again.hidden = true
    this.dom = element("section", {class: "problems", "aria-label": "Problems", "aria-live": "polite"}, this.summary, this.list, this.again)
    this.dom.ariaBusy = "true" // until what it shows is about the text as it is now
    this.request = new AbortController()
    /** @type {EditorView | undefined} */
    this.view = undefined
    this.dom.hidden = !url
    /** What is listed. @type {Marked[]} */
    this.marked = []
  }

  /** What an editor needs to have its problems marked and listed. */
  extension() {
    if (!this.url) return []
    return [
      // An answer about a text that has changed since is dropped by linter.
      linter(view => this.check(view), {delay, needsRefresh: update => update.transactions.some(t => t.effects.some(e => e.is(recheck)))}),
      EditorView.updateListener.of(update => {
        if (update.docChanged) this.dom.ariaBusy = "true"
        for (const t of update.transactions) for (const e of t.effects) {
          if (e.is(setDiagnosticsEffect)) this.show(update.view, /** @type {Marked[]} */ ([...e.value]))
        }
      }),
    ]
  }

  /** @param {EditorView} view @returns {Promise<Marked[]>} */
  async check(view) {
    this.view = view
    this.request.abort()
    const {signal} = this.request = new AbortController()
    const doc = view.state.doc
    const text = doc.toString()
    try {
      const answer = await fetch(this.url, {method: "POST", headers: {"Content-Type": "application/json"}, body: text, signal, redirect: "error"})
      if (!answer.ok) throw new Error(answer.status === 401 ? "you are signed out" : `the server answers ${answer.status}`)
      /** @type {Problem[]} */
      const problems = (await answer.json()).problems ?? []
      this.failed("")
      const root = parse(text)
      return problems.map(p => ({...placeOf(doc, text, root, p), severity: p.severity, message: p.message + (p.hint ? `; ${p.hint}` : ""), problem: p}))
    } catch (fault) {
      if (!signal.aborted) this.failed(fault instanceof TypeError ? "the server does not answer, or you are signed out" : /** @type {Error} */ (fault).message)
      return []
    }
  }

  /** Says why a text could not be checked; empty if it was. @param {string} why */
  failed(why) {
    this.unchecked = why
    this.again.hidden = !why
  }

  /** Lists the problems. @param {EditorView} view @param {Marked[]} marked */
  show(view, marked) {
    this.dom.ariaBusy = "false"
    const errors = marked.filter(d => d.severity === "error").length
    const count = (/** @type {number} */ n, /** @type {string} */ one) => `${n} ${one}${n === 1 ? "" : "s"}`
    const words = this.unchecked ? `Not checked: ${this.unchecked}. The text is kept here.`
      : marked.length ? `${count(errors, "error")}, ${count(marked.length - errors, "warning")}` : "No problems"
    // What has not changed is not read out again.
    if (this.summary.textContent !== words) this.summary.textContent = words
    const lines = marked.map(d => say(d.problem))
    this.marked = marked
    if (lines.join("\n") === Array.from(this.list.children, li => li.textContent).join("\n")) return
    this.list.replaceChildren(...marked.map((d, i) => element("li", {class: d.severity}, button(lines[i], () => goTo(view, this.marked[i])))))
  }
}

/** Selects the place of a problem, where the text has moved it. @param {EditorView} view @param {Marked} d */
function goTo(view, d) {
  let {from, to} = d
  forEachDiagnostic(view.state, (other, start, end) => { if (other === d) ({from, to} = {from: start, to: end}) })
  const length = view.state.doc.length
  view.dispatch({selection: {anchor: Math.min(from, length), head: Math.min(to, length)}, scrollIntoView: true})
  view.focus()
}

/** Goes to the next problem and reads it out. @type {import("./vendor/codemirror.js").Command} */
export const goToNext = view => {
  if (!nextDiagnostic(view)) return false
  const {from} = view.state.selection.main
  const found = /** @type {string[]} */ ([])
  forEachDiagnostic(view.state, (d, start) => { if (start === from) found.push(say(/** @type {Marked} */ (d).problem)) })
  view.dispatch({effects: EditorView.announce.of(found.join(". "))})
  return true
}

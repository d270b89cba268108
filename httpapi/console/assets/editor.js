// @ts-check
// <rote-editor>: the editor of a routine's definition. The page has, in a form:
//
//   <label for=definition>Definition, as JSON</label>
//   <rote-editor data-check="/console/check" data-schema="/schemas/routine.json"
//       data-draft-key="Routine_…" data-version="4">
//     <textarea id=definition name=definition rows=30 spellcheck=false autocomplete=off>{…}</textarea>
//   </rote-editor>
//   <button data-save>Save</button> <button data-run name=then value=run>Save and run</button>
//   <button data-try formaction="/console/run">Run without saving</button>
//
// Without JavaScript the textarea is the editor. With it the textarea stays in the form and is
// posted under its name, with the editor's text; it is not shown, so it has no "required".
// The label stays outside <rote-editor>. A textarea with "readonly" makes the editor read-only.
//
// Attributes of <rote-editor>:
//   data-check      where texts are checked: POST of the text as application/json, answered by
//                   {"problems": [{line, column, pointer, message, hint, severity}]} with severity
//                   "error" or "warning" and columns in code points. Without it nothing is checked.
//   data-schema     the schema that completion uses. Without it nothing is completed.
//   data-draft-key  names the routine under which a draft is kept in the tab; "new" for a new one.
//                   Without it no draft is kept.
//   data-version    the stored version that the text is from; empty for a new routine.
//   data-changed    the text of the page is not what is stored, as after a save that was refused.
//   data-at         JSON pointer of the place where the cursor begins, as in /operations/2.
//
// Ctrl S posts the form by its [data-save] button, Ctrl Enter by its [data-run] button, F8 goes
// to the next problem, Alt Enter edits the string at the cursor in lines, Ctrl ] and Ctrl [
// indent. Tab leaves the editor. The colours are the page's --bg --raise --line --border --text
// --muted --accent --good --bad --busy --mono, of color-scheme light and dark.
import {
  EditorState, EditorView, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, defaultKeymap, foldGutter, foldKeymap, history,
  historyKeymap, indentOnInput, json, keymap, lintGutter, search, searchKeymap,
} from "./vendor/codemirror.js"
import {completions} from "./complete.js"
import {Drafts} from "./editor_draft.js"
import {adopt, button, element, look} from "./editor_look.js"
import {Problems, goToNext} from "./editor_problems.js"
import {editString, scriptOpeners} from "./editor_script.js"
import {find} from "./json_text.js"

/** Milliseconds without a change of the text before its draft is kept. */
const draftDelay = 300

class Editor extends HTMLElement {
  /** The form is being posted, so leaving the page loses nothing. */
  sending = false
  timer = 0

  connectedCallback() {
    const area = this.querySelector("textarea")
    if (this.shadowRoot || !area) return
    this.area = area
    this.form = area.form
    const root = this.attachShadow({mode: "open"})
    adopt(root)
    this.notice = element("div", {class: "notice", role: "status", hidden: ""})
    this.problems = new Problems(this.dataset.check ?? "")
    this.drafts = this.dataset.draftKey ? new Drafts(this.dataset.draftKey, this.dataset.version ?? "") : undefined
    this.stored = EditorState.create({doc: area.defaultValue}).doc
    const code = element("div", {class: "code"})
    root.append(this.notice, this.tools(), code, this.problems.dom)
    this.view = new EditorView({parent: code, root, doc: area.value, extensions: this.extensions(area)})
    this.restore(this.view)
    this.watch(area)
    const start = this.dataset.at
    if (start) this.view.dispatch({selection: {anchor: find(this.value, start).from}, scrollIntoView: true})
  }

  /** The text, as it is posted. */
  get value() { return this.view?.state.doc.toString() ?? this.area?.value ?? "" }

  /** Reports whether leaving the page would lose a change. */
  get isChanged() {
    const isStored = this.dataset.changed === undefined && this.stored !== undefined && this.view?.state.doc.eq(this.stored)
    return !this.sending && !isStored
  }

  tools() {
    const edit = button("Edit script", () => this.view && this.edit(this.view))
    edit.append(" ", element("kbd", {}, "Alt ⏎"))
    const key = (/** @type {string} */ name) => element("kbd", {}, name)
    const keys = element("p", {}, key("F8"), " next problem, ", key("Ctrl Space"), " complete, ", key("Tab"), " leaves")
    return element("div", {class: "tools"}, edit, keys)
  }

  /** @param {EditorView} view */
  edit(view) { return editString(save => save && this.send("data-save"))(view) }

  /** @param {HTMLTextAreaElement} area */
  extensions(area) {
    const label = area.labels?.[0]?.textContent?.trim() || area.getAttribute("aria-label") || "Definition, as JSON"
    const keys = [
      {key: "Mod-s", run: () => this.send("data-save")}, {key: "Mod-Enter", run: () => this.send("data-run")},
      {key: "F8", run: goToNext}, {key: "Alt-Enter", run: (/** @type {EditorView} */ view) => this.edit(view)},
    ]
    return [
      EditorState.readOnly.of(area.readOnly), EditorView.contentAttributes.of({"aria-label": label, tabindex: "0"}),
      keymap.of([...keys, ...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap]),
      look, foldGutter(), history(), indentOnInput(), closeBrackets(), json(), search({top: true}), lintGutter(),
      scriptOpeners(save => save && this.send("data-save")), this.problems?.extension() ?? [], this.completion(),
      EditorView.updateListener.of(update => update.docChanged && this.changed()),
    ]
  }

  completion() {
    const url = this.dataset.schema
    if (!url) return []
    /** @type {Promise<any> | undefined} */
    let schema
    const load = async () => (await fetch(url)).json()
    return autocompletion({icons: false, override: [async context => {
      try {
        return completions(await (schema ??= load()))(context)
      } catch {
        schema = undefined // The next time it is loaded again.
        return null
      }
    }]})
  }

  /**
   * Goes on with the draft that is kept, or offers it if it is of another version, or beside a text
   * that is not stored either, as that of an import. @param {EditorView} view
   */
  restore(view) {
    const draft = this.drafts?.find(this.area?.defaultValue ?? "")
    if (!draft) return
    const put = (/** @type {string} */ text) => view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}})
    const kept = `of ${new Date(draft.at).toLocaleString([], {dateStyle: "medium", timeStyle: "short"})}`
    const discard = button("Discard it", () => {
      this.drafts?.drop(draft.version)
      if (view.state.doc.eq(EditorState.create({doc: draft.text}).doc)) put(this.area?.defaultValue ?? "")
      this.say()
      view.focus()
    })
    if (draft.version === this.drafts?.version && !draft.sent && this.dataset.changed === undefined) {
      put(draft.text)
      this.say(`Your unsaved text ${kept} is here again.`, discard)
      return
    }
    const use = button("Use it", () => {
      put(draft.text)
      this.drafts?.drop(draft.version)
      this.say()
      view.focus()
    })
    const about = draft.version ? `version ${draft.version}` : "a new routine"
    const why = draft.sent ? "A text that you sent, and that may not have been saved," : `Your unsaved text for ${about}`
    this.say(`${why} ${kept} is kept.`, use, discard)
  }

  /** Shows a notice above the editor; none without a text. @param {string} text @param {...Node} actions */
  say(text = "", ...actions) {
    this.notice?.replaceChildren(element("p", {}, text), ...actions)
    this.notice?.toggleAttribute("hidden", !text)
  }

  /** Posts the form with a button of it, as if that was pressed. @param {string} attribute */
  send(attribute) {
    const submitter = /** @type {HTMLButtonElement | null} */ (this.form?.querySelector(`[${attribute}]`) ?? null)
    if (submitter && !submitter.disabled) this.form?.requestSubmit(submitter)
    else this.view?.dispatch({effects: EditorView.announce.of("The button for this is off or not on this page")})
    return true
  }

  /** Gives the form the text, and keeps changes. @param {HTMLTextAreaElement} area */
  watch(area) {
    this.form?.addEventListener("formdata", e => e.formData.set(area.name, this.value))
    // On the window, so after the form's own listeners, which may refuse.
    addEventListener("submit", e => {
      if (e.target !== this.form || e.defaultPrevented) return
      this.keep(!e.submitter?.hasAttribute("data-try")) // What is only tried is not saved.
      this.sending = true
    })
    addEventListener("pageshow", () => { this.sending = false })
    addEventListener("pagehide", () => this.keep(false))
    addEventListener("beforeunload", e => this.isChanged && e.preventDefault())
  }

  changed() {
    this.sending = false
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.keep(false), draftDelay)
  }

  /** Keeps the text as a draft if it is not what is stored. @param {boolean} sent The form is sent with it. */
  keep(sent) {
    clearTimeout(this.timer)
    if (!this.drafts || this.sending) return
    if (!this.isChanged) this.drafts.drop()
    else if (!this.drafts.keep(this.value, sent)) this.say("This tab has no room for a draft: save before you leave the page.")
  }
}

customElements.define("rote-editor", Editor)

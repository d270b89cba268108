// @ts-check
// <rote-diff>: two texts as one, with what was removed and added. The page has:
//
//   <rote-diff aria-label="Version 3 and version 4">
//     <h3>Version 3</h3><pre data-old>…</pre>
//     <h3>Version 4</h3><pre data-new>…</pre>
//   </rote-diff>
//
// Without JavaScript both texts are read one after the other. With it they are replaced by the
// difference: equal parts are folded, F8 goes to the next change.
import {EditorState, EditorView, defaultKeymap, getChunks, goToNextChunk, json, keymap, search, searchKeymap, unifiedMergeView} from "./vendor/codemirror.js"
import {adopt, button, element, look} from "./editor_look.js"

class Diff extends HTMLElement {
  connectedCallback() {
    const old = this.querySelector("[data-old]")?.textContent
    const now = this.querySelector("[data-new]")?.textContent
    if (this.shadowRoot || typeof old !== "string" || typeof now !== "string") return
    const root = this.attachShadow({mode: "open"})
    adopt(root)
    const count = element("p", {})
    const code = element("div", {class: "code"})
    const show = (/** @type {boolean} */ whole) => {
      this.view?.destroy()
      this.view = new EditorView({parent: code, root, doc: now, extensions: this.extensions(old, whole)})
      all.hidden = whole || !code.querySelector(".cm-collapsedLines")
    }
    const all = button("Show all lines", () => {
      show(true)
      this.view?.focus()
    })
    root.append(element("div", {class: "tools"}, count, all), code)
    show(false)
    const chunks = this.view ? getChunks(this.view.state)?.chunks.length ?? 0 : 0
    count.textContent = chunks === 0 ? "No difference" : chunks === 1 ? "1 place differs" : `${chunks} places differ`
  }

  /** @param {string} old @param {boolean} whole @returns {import("./vendor/codemirror.js").Extension} */
  extensions(old, whole) {
    return [
      look, json(), search({top: true}), EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({"aria-label": this.getAttribute("aria-label") ?? "What differs", "aria-readonly": "true", tabindex: "0"}),
      unifiedMergeView({original: old, mergeControls: false, ...(whole ? {} : {collapseUnchanged: {margin: 3, minSize: 6}})}),
      keymap.of([{key: "F8", run: goToNextChunk}, ...searchKeymap, ...defaultKeymap]),
    ]
  }

  /** @type {EditorView | undefined} */
  view
}

customElements.define("rote-diff", Diff)

// @ts-check
// A text of the definition, such as the script of js_evaluate, edited in lines: in a dialog,
// from which it goes back as a JSON string.
import {Decoration, EditorState, EditorView, ViewPlugin, WidgetType, defaultKeymap, history, historyKeymap, keymap, syntaxTree} from "./vendor/codemirror.js"
import {member, parse, plain, read, tokenAt, wayTo} from "./json_text.js"
import {button, element, look} from "./editor_look.js"

/**
 * Returns the string that an offset is in; else the script of the operation around it.
 * @param {string} text @param {number} at
 */
function stringAt(text, at) {
  const way = wayTo(parse(text), at)
  const step = way[way.length - 1]
  const found = tokenAt(step, at)
  const isString = found && !found.isKey && found.token.kind === "string"
  const v = isString ? found.token : way.map(s => member(text, s.container, "js")).findLast(s => s)
  const content = read(text, v)
  if (!v || typeof content !== "string") return undefined
  const name = way.map(s => s.container.kind === "array" ? String(s.index + 1) : s.member ? plain(text, s.member.key) : "").join(" ")
  return {from: v.from, to: v.to, content, name}
}

/**
 * Opens the string at the cursor in a dialog.
 * @param {(save: boolean) => void} done Called after the text was put back. @returns {import("./vendor/codemirror.js").Command}
 */
export const editString = done => view => {
  const found = stringAt(view.state.doc.toString(), view.state.selection.main.head)
  if (!found) {
    view.dispatch({effects: EditorView.announce.of("Put the cursor into a text, such as the js of a js_evaluate, whose quotes are complete")})
    return true
  }
  open(view, found, done)
  return true
}

/** @param {EditorView} view @param {{from: number, to: number, content: string, name: string}} found @param {(save: boolean) => void} done */
function open(view, found, done) {
  const title = `Text of ${found.name}`
  const dialog = element("dialog", {"aria-label": title})
  const code = element("div", {class: "code"})
  const isReadOnly = view.state.readOnly
  const putBack = (/** @type {boolean} */ save) => {
    const text = script.state.doc.toString()
    if (text !== found.content && !isReadOnly) {
      const {from, to} = found
      view.dispatch({changes: {from, to, insert: JSON.stringify(text)}, selection: {anchor: from + 1}, scrollIntoView: true, userEvent: "input"})
    }
    dialog.close()
    done(save)
    return true
  }
  const root = /** @type {ShadowRoot} */ (view.root)
  const script = new EditorView({
    root, parent: code, doc: found.content, extensions: [
      look, history(), EditorState.readOnly.of(isReadOnly), EditorView.contentAttributes.of({"aria-label": title, tabindex: "0"}),
      keymap.of([
        {key: "Mod-Enter", run: () => putBack(false)}, {key: "Mod-s", run: () => putBack(true)}, ...defaultKeymap, ...historyKeymap,
      ]),
    ],
  })
  const warning = element("p", {role: "status"})
  dialog.append(element("h2", {}, title), code, element("div", {class: "actions"},
    button(isReadOnly ? "Close" : "Put back (Ctrl Enter)", () => putBack(false)), button("Cancel (Esc)", () => dialog.close()), warning))
  dialog.addEventListener("cancel", e => {
    if (script.state.doc.toString() === found.content || warning.textContent) return
    e.preventDefault()
    warning.textContent = "The text has changed. Esc again discards the changes."
  })
  dialog.addEventListener("close", () => {
    script.destroy()
    dialog.remove()
    view.focus()
  })
  root.append(dialog)
  dialog.showModal()
  script.focus()
}

/** The mark before a script that opens it. The keyboard has Alt Enter. */
class Opener extends WidgetType {
  eq() { return true }
  ignoreEvent() { return false }
  toDOM() { return element("span", {class: "cm-script", "aria-hidden": "true", title: "Edit the script in lines (Alt Enter)"}, "Edit script") }
}
const opener = Decoration.widget({widget: new Opener(), side: -1})

/** @param {EditorView} view @returns {import("./vendor/codemirror.js").DecorationSet} */
function openers(view) {
  const found = /** @type {any[]} */ ([])
  for (const {from, to} of view.visibleRanges) {
    syntaxTree(view.state).iterate({from, to, enter: node => {
      const value = node.name === "Property" ? node.node.lastChild : null
      if (value?.name === "String" && /^"js"\s*:/.test(view.state.sliceDoc(node.from, value.from))) found.push(opener.range(value.from))
    }})
  }
  return Decoration.set(found, true)
}

/** Marks scripts with what opens them. @param {(save: boolean) => void} done */
export const scriptOpeners = done => ViewPlugin.fromClass(class {
  /** @param {EditorView} view */
  constructor(view) { this.decorations = openers(view) }

  /** @param {import("./vendor/codemirror.js").ViewUpdate} update */
  update(update) {
    if (update.docChanged || update.viewportChanged || syntaxTree(update.startState) !== syntaxTree(update.state)) this.decorations = openers(update.view)
  }
}, {
  decorations: plugin => plugin.decorations,
  eventHandlers: {
    mousedown(event, view) {
      const target = /** @type {HTMLElement} */ (event.target)
      if (!target.classList.contains("cm-script")) return false
      event.preventDefault()
      view.dispatch({selection: {anchor: view.posAtDOM(target) + 1}})
      return editString(done)(view)
    },
  },
})

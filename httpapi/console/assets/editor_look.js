// @ts-check
// How code looks, in the colours of the page: its custom properties, or these where it has none.
import {
  EditorView, HighlightStyle, bracketMatching, drawSelection, highlightActiveLine, highlightSpecialChars, indentUnit, lineNumbers,
  syntaxHighlighting, tags,
} from "./vendor/codemirror.js"

// A style sheet that a script makes is no inline style, so the content policy takes it.
const sheet = new CSSStyleSheet()
sheet.replaceSync(`
:host {
  --e-bg: var(--bg, light-dark(#fff, #14161a)); --e-raise: var(--raise, light-dark(#f6f7f9, #1c1f25));
  --e-line: var(--line, light-dark(#dcdfe5, #31363f)); --e-text: var(--text, light-dark(#1b1f24, #e6e8eb));
  --e-muted: var(--muted, light-dark(#59616d, #9aa3af)); --e-link: var(--accent, light-dark(#0a58ca, #7ab0ff));
  --e-ok: var(--good, light-dark(#156f3b, #5fce8c)); --e-bad: var(--bad, light-dark(#b3261e, #ff8a80));
  --e-warn: var(--busy, light-dark(#8a5a00, #f2b84b)); --e-mark: light-dark(#b4d5fe, #264f78); --e-border: var(--border, light-dark(#868e99, #6b7482));
  --e-mono: var(--mono, ui-monospace, SFMono-Regular, Menlo, Consolas, monospace);
  display: block; color: var(--e-text); background: var(--e-bg);
}
[hidden] { display: none !important; }
.tools, .notice { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding: .4rem .6rem; background: var(--e-raise); }
.tools { border: 1px solid var(--e-line); border-bottom: 0; } .tools p, .notice p { margin: 0; font-size: .85rem; }
.notice { border-left: 4px solid var(--e-warn); margin-bottom: .5rem; }
.code { border: 1px solid var(--e-line); }
button {
  font: inherit; color: inherit; background: var(--e-bg); border: 1px solid var(--e-border); border-radius: 6px; min-height: 2rem; padding: .2rem .75rem;
  cursor: pointer;
}
:focus-visible { outline: 2px solid var(--e-link); outline-offset: 2px; }
kbd { font: 11px var(--e-mono); border: 1px solid currentColor; border-radius: 3px; padding: 0 .25rem; }
.problems { margin-top: .5rem; } .problems p { margin: 0; font-weight: 600; }
.problems ol { margin: .25rem 0 0; padding: 0; list-style: none; }
.problems button { display: block; width: 100%; text-align: left; border: 0; padding: .2rem .25rem; overflow-wrap: anywhere; }
.problems .error { color: var(--e-bad); } .problems .warning { color: var(--e-warn); }
dialog {
  width: min(60rem, 94vw); max-height: 90vh; padding: 1rem; color: inherit; background: var(--e-bg); border: 1px solid var(--e-line); border-radius: 6px;
}
dialog h2 { margin: 0 0 .5rem; font-size: 1.05rem; } dialog .code { max-height: 65vh; overflow: auto; margin-bottom: .75rem; }
dialog .actions { display: flex; gap: .5rem; flex-wrap: wrap; align-items: center; } dialog .actions p { margin: 0; font-size: .85rem; }
`)

/** Gives a shadow root the look of the editors. @param {ShadowRoot} root */
export const adopt = root => { root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet] }

const colours = HighlightStyle.define([
  {tag: tags.propertyName, color: "var(--e-link)"}, {tag: tags.string, color: "var(--e-ok)"},
  {tag: [tags.number, tags.bool, tags.null], color: "var(--e-warn)"},
])

const theme = EditorView.theme({
  "&": {color: "var(--e-text)", backgroundColor: "var(--e-bg)", fontSize: "13px"},
  "&.cm-focused": {outline: "2px solid var(--e-link)"},
  ".cm-scroller": {fontFamily: "var(--e-mono)", lineHeight: "1.5"},
  ".cm-content": {caretColor: "var(--e-text)"},
  ".cm-cursor, .cm-dropCursor": {borderLeftColor: "var(--e-text)"},
  ".cm-gutters": {color: "var(--e-muted)", backgroundColor: "var(--e-raise)", borderRight: "1px solid var(--e-line)"},
  ".cm-activeLine": {backgroundColor: "transparent"},
  ".cm-activeLineGutter": {color: "var(--e-text)", backgroundColor: "transparent"},
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {background: "var(--e-mark) !important"},
  "&.cm-focused .cm-matchingBracket": {backgroundColor: "var(--e-mark)"},
  "&.cm-focused .cm-nonmatchingBracket": {color: "var(--e-bad)", backgroundColor: "transparent"},
  ".cm-searchMatch": {color: "var(--e-text)", backgroundColor: "transparent", outline: "1px solid var(--e-warn)"},
  ".cm-searchMatch-selected, .cm-selectionMatch": {backgroundColor: "var(--e-mark)"},
  ".cm-tooltip, .cm-panels, .cm-button, .cm-textfield": {
    color: "var(--e-text)", background: "var(--e-raise)", border: "1px solid var(--e-line)",
  },
  ".cm-tooltip.cm-completionInfo": {maxWidth: "32rem", maxHeight: "16rem", overflow: "auto", whiteSpace: "normal"},
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {color: "var(--e-text) !important", background: "var(--e-mark) !important"},
  ".cm-foldPlaceholder": {color: "var(--e-muted)", background: "var(--e-raise)", borderColor: "var(--e-line)"},
  ".cm-diagnostic": {whiteSpace: "pre-wrap", overflowWrap: "anywhere"},
  ".cm-script": {
    color: "var(--e-link)", border: "1px solid var(--e-line)", borderRadius: "3px", padding: "0 .3rem", marginRight: ".3rem", cursor: "pointer",
    fontFamily: "system-ui, sans-serif", fontSize: "11px",
  },
  ".cm-insertedLine, &.cm-merge-b .cm-changedLine": {backgroundColor: "light-dark(#e6f4ea, #16301f)"},
  "&.cm-merge-b .cm-changedText": {background: "light-dark(#c8ead2, #2a5a3b)"},
  ".cm-deletedChunk": {backgroundColor: "light-dark(#fdeceb, #3a1d1b)"},
  "& .cm-deletedChunk .cm-deletedText": {background: "light-dark(#fbdbd8, #6b2d29)"},
  ".cm-collapsedLines": {color: "var(--e-muted) !important", background: "var(--e-raise) !important"},
})

/** What all editors of the console have. */
export const look = [
  lineNumbers(), highlightSpecialChars(), drawSelection(), highlightActiveLine(), bracketMatching(), syntaxHighlighting(colours), theme,
  indentUnit.of("  "), EditorView.lineWrapping,
]

/**
 * Makes an element with attributes and children.
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name @param {Record<string, string>} attributes @param {...(Node | string)} children @returns {HTMLElementTagNameMap[N]}
 */
export function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [key, text] of Object.entries(attributes)) made.setAttribute(key, text)
  made.append(...children)
  return made
}

/** A button that does something. @param {string | Node} label @param {() => void} act */
export function button(label, act) {
  const made = element("button", {type: "button"}, label)
  made.addEventListener("click", act)
  return made
}

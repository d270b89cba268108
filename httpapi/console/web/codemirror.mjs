// What the console takes from CodeMirror. `go generate` makes assets/vendor/codemirror.js of it.
export { EditorState, StateEffect } from "@codemirror/state";
export {
  Decoration, EditorView, ViewPlugin, WidgetType, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
export { json } from "@codemirror/lang-json";
export {
  HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting, syntaxTree,
} from "@codemirror/language";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { forEachDiagnostic, lintGutter, linter, nextDiagnostic, setDiagnosticsEffect } from "@codemirror/lint";
export { CompletionContext, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, pickedCompletion } from "@codemirror/autocomplete";
export { search, searchKeymap } from "@codemirror/search";
export { getChunks, goToNextChunk, unifiedMergeView } from "@codemirror/merge";
export { tags } from "@lezer/highlight";

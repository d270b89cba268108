// The types that the console's scripts name. tsc reads them through assets/vendor/codemirror.d.ts.
export type { Completion, CompletionResult } from "@codemirror/autocomplete";
export type { Diagnostic } from "@codemirror/lint";
export type { Extension, Text } from "@codemirror/state";
export type { Command, DecorationSet, ViewUpdate } from "@codemirror/view";

// @ts-check
// Completion of a routine's definition from its published schema (/schemas/routine.json).
// What is offered makes a definition that the checker takes: keys come with a value, types of
// operations with the fields that they need, and commas where they are missing.
import {pickedCompletion} from "./vendor/codemirror.js"
import {parse, plain, tokenAt, wayTo} from "./json_text.js"
import {members, properties, sample, schemasAt, schemasBelow, write} from "./schema.js"
import {isOffered, memberFor, placeholders, valuesFor} from "./complete_rules.js"

/** @typedef {import("./vendor/codemirror.js").CompletionContext} Context */
/** @typedef {import("./vendor/codemirror.js").Completion} Completion */
/** @typedef {import("./vendor/codemirror.js").CompletionResult} Result */
/** @typedef {import("./json_text.js").Step} Step */
/** @typedef {import("./json_text.js").Value} Value */

/**
 * A place in a text: the way to it, the key or value that it is in, and what may be put there.
 * @typedef {{text: string, way: Step[], from: number, to: number, token?: Value, expects: "key" | "value" | "nothing"}} Place
 */

/** Returns the source of completions for a schema. @param {any} schema @returns {(context: Context) => Result | null} */
export const completions = schema => context => {
  const text = context.state.doc.toString()
  const inPlaceholder = placeholderAt(schema, text, context.pos)
  if (inPlaceholder) return inPlaceholder
  const place = placeAt(text, context.pos)
  if (!place || !place.token && !context.explicit) return null
  const options = place.expects === "key" ? keys(schema, place) : place.expects === "value" ? values(schema, place) : []
  // The text that is there is compared with the labels, which have quotes as it has.
  return options.length ? {from: place.from, to: context.pos, options} : null
}

/** Returns the place at an offset. @param {string} text @param {number} at @returns {Place | undefined} */
function placeAt(text, at) {
  const way = wayTo(parse(text), at)
  const step = way[way.length - 1]
  if (!step) return undefined
  const found = tokenAt(step, at)
  if (found && (found.token.kind === "string" || found.token.kind === "scalar")) {
    return {text, way, from: found.token.from, to: found.token.to, token: found.token, expects: found.isKey ? "key" : "value"}
  }
  const before = text.slice(0, at).trimEnd().at(-1)
  const expects = step.container.kind === "array" ? "value" : before === ":" ? "value" : "key"
  // Before the first item or after the comma, the new one is none of those that are there.
  if (expects === "key" || step.container.kind === "array") way[way.length - 1] = {...step, member: undefined}
  return {text, way, from: at, to: at, expects}
}

/** Returns the names for a placeholder that is begun at an offset. @param {any} schema @param {string} text @param {number} at @returns {Result | null} */
function placeholderAt(schema, text, at) {
  const begun = /\{\{([\w:.-]*)$/.exec(text.slice(Math.max(0, at - 200), at))
  if (!begun) return null
  const way = wayTo(parse(text), at)
  const step = way[way.length - 1]
  const found = tokenAt(step, at)
  if (!found || found.isKey || found.token.kind !== "string") return null
  if (schemasBelow(schema, text, way).some(s => s.enum || s.const)) return null
  const rest = /^[\w:.-]*(}{0,2})/.exec(text.slice(at))
  const from = at - begun[1].length
  return {
    from, filter: true,
    options: placeholders(text, way).map(({name, info}) => ({
      label: name, type: "variable", info,
      apply: (view, completion, start) => insert(view, completion, start, at + (rest?.[0].length ?? 0), `${name}}}`),
    })),
  }
}

/** The object that a key is for. @param {Place} place */
const objectOf = place => place.way[place.way.length - 1].container

/** The names that an object has, but for the one at the place. @param {Place} place */
const given = ({text, way, token}) => way[way.length - 1].container.members.filter(m => m.key !== token).map(m => plain(text, m.key))

/** @param {any} schema @param {Place} place @returns {Completion[]} */
function keys(schema, place) {
  const {text, way} = place
  const object = objectOf(place)
  const has = given(place)
  const schemas = schemasAt(schema, text, way)
  const required = new Set(schemas.flatMap(s => s.required ?? []))
  const hasValue = object.members.some(m => m.key === place.token && m.colon)
  /** @type {Completion[]} */
  const options = []
  for (const [name, p] of properties(schemas)) {
    if (has.includes(name) || p.readOnly || !isOffered(name, text, way)) continue
    if (name === "type" && typesOf(schemas).length && !hasValue) {
      for (const {kind, add} of typesFor(schema, schemas, has)) {
        options.push(option(place, `"type": "${kind.const}"`, members({type: kind.const, ...add}), "class", kind.info, 20))
      }
      continue
    }
    const added = memberFor(name, sample(schema, p), text, way)
    options.push(option(place, `"${name}"`, hasValue ? `"${name}"` : members(added), "property", p.description, required.has(name) ? 10 : 0))
  }
  return options
}

/** The kinds of objects whose member "type" tells them apart, such as operations. @param {any[]} schemas @returns {string[]} */
const typesOf = schemas => schemas.some(s => s.allOf) ? schemas.find(s => s.allOf).properties.type.enum : []

/**
 * Returns the kinds of operations that may have the members that are there, and which ones each
 * needs besides.
 * @param {any} schema @param {any[]} schemas @param {string[]} has
 */
function typesFor(schema, schemas, has) {
  return typesOf(schemas).map(name => ({name, s: schema.$defs[name]}))
    .filter(({s}) => has.every(key => key === "type" || key in s.properties || key.startsWith("x-")))
    .map(({name, s}) => ({
      kind: {const: name, info: s.description},
      add: Object.fromEntries(Object.entries(sample(schema, s)).filter(([key]) => key !== "type" && !has.includes(key))),
    }))
}

/** @param {any} schema @param {Place} place @returns {Completion[]} */
function values(schema, place) {
  const {text, way} = place
  const step = way[way.length - 1]
  const schemas = schemasBelow(schema, text, way)
  if (step.container.kind === "object" && step.member && plain(text, step.member.key) === "type") {
    const around = schemasAt(schema, text, way)
    if (typesOf(around).length) {
      const has = step.container.members.map(m => plain(text, m.key))
      return typesFor(schema, around, has).map(({kind, add}) =>
        option(place, `"${kind.const}"`, [`"${kind.const}"`, members(add)].filter(Boolean).join(", "), "class", kind.info, 0))
    }
  }
  if (step.container.kind === "array" && typesOf(schemas).length && !place.token) {
    return typesFor(schema, schemas, []).map(({kind, add}) =>
      option(place, `{"type": "${kind.const}"}`, write({type: kind.const, ...add}), "class", kind.info, 0))
  }
  const info = schemas.find(s => s.description)?.description
  const found = valuesFor(schemas, text, way)
  if (!found.length && !place.token) {
    if (!schemas.length) return []
    const first = sample(schema, Object.assign({}, ...schemas.reverse()))
    return first === null ? [] : [option(place, write(first), write(first), "constant", info, 0)]
  }
  return found.map(v => option(place, JSON.stringify(v.value), [JSON.stringify(v.value), members(v.add)].filter(Boolean).join(", "), "enum", info, 0))
}

/**
 * @param {Place} place @param {string} label @param {string} text What is put in. @param {string} type @param {string | undefined} info
 * @param {number} boost @returns {Completion}
 */
const option = (place, label, text, type, info, boost) => ({
  label, type, boost, info: info || undefined,
  apply: (view, completion, from, to) => apply(view, completion, from, Math.max(to, place.to), text),
})

/**
 * Puts a key with its value, or a value, into the text, with the commas before and after it that
 * are missing.
 * @param {import("./vendor/codemirror.js").EditorView} view @param {Completion} completion @param {number} from @param {number} to @param {string} text
 */
function apply(view, completion, from, to, text) {
  const doc = view.state.doc.toString()
  const before = doc.slice(0, from).trimEnd()
  const after = doc.slice(to).trimStart()[0]
  const tail = after === undefined || "}],:".includes(after) ? "" : ","
  if ("{[,:".includes(before.at(-1) ?? "{")) return insert(view, completion, from, to, text + tail)
  // On the line of what is before, the comma also needs a space.
  const gap = doc.slice(before.length, from) || " "
  insert(view, completion, before.length, to, `,${gap}${text}${tail}`)
}

/**
 * Replaces a part of the text and selects the first text of the new part that is not a key, or
 * puts the cursor after it.
 * @param {import("./vendor/codemirror.js").EditorView} view @param {Completion} completion @param {number} from @param {number} to @param {string} text
 */
function insert(view, completion, from, to, text) {
  const filled = /^[^{]*?"(?!type")[\w$-]+": (?:\{"[\w-]+": )?"((?:[^"\\]|\\.)*)"/.exec(text)
  const end = from + text.length - (/,$/.test(text) ? 1 : 0)
  const start = filled ? from + filled[0].length - 1 - filled[1].length : end
  view.dispatch({
    changes: {from, to, insert: text}, selection: {anchor: start, head: filled ? start + filled[1].length : end},
    scrollIntoView: true, userEvent: "input.complete", annotations: pickedCompletion.of(completion),
  })
}

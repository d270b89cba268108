// @ts-check
// Which schemas hold at a place of a text, and a first value for each.
import {member, plain, read} from "./json_text.js"

/** @typedef {import("./json_text.js").Step} Step */
/** @typedef {import("./json_text.js").Value} Value */
/** A JSON Schema, as /schemas/routine.json has them. @typedef {any} Schema */

/** Returns what a reference such as #/$defs/parameter points to. @param {Schema} root @param {string} ref @returns {Schema} */
const resolve = (root, ref) => ref.split("/").slice(1).reduce((s, name) => s?.[name], root)

/**
 * Returns the schemas that hold for a value: one, those that it refers to, and those under a
 * condition that the members of the value meet.
 * @param {Schema} root @param {Schema} schema @param {string} text @param {Value | undefined} v @returns {Schema[]}
 */
function expand(root, schema, text, v) {
  if (typeof schema !== "object") return []
  const all = [schema]
  if (schema.$ref) all.push(...expand(root, resolve(root, schema.$ref), text, v))
  for (const part of schema.allOf ?? []) {
    const met = Object.entries(part.if?.properties ?? {}).every(([name, s]) => read(text, member(text, v, name)) === s.const)
    if (met) all.push(...expand(root, part.then ?? part, text, v))
  }
  return all
}

/** Returns the schemas that hold for the innermost container of a way. @param {Schema} root @param {string} text @param {Step[]} way @returns {Schema[]} */
export function schemasAt(root, text, way) {
  let found = [root]
  way.forEach(({container}, depth) => {
    if (depth > 0) found = below(found, text, way[depth - 1])
    found = found.flatMap(s => expand(root, s, text, container))
  })
  return found
}

/** Returns the schemas of the member or item to which a step leads. @param {Schema[]} schemas @param {string} text @param {Step} step @returns {Schema[]} */
const below = (schemas, text, step) => schemas.flatMap(s =>
  (step.container.kind === "array" ? s.items : step.member && s.properties?.[plain(text, step.member.key)]) ?? [])

/** The same as schemasAt, for the member or item at the end of a way. @param {Schema} root @param {string} text @param {Step[]} way @returns {Schema[]} */
export const schemasBelow = (root, text, way) =>
  below(schemasAt(root, text, way), text, way[way.length - 1]).flatMap(s => expand(root, s, text, undefined))

/** The members of all schemas; of those with the same name the one that says most. @param {Schema[]} schemas @returns {Map<string, Schema>} */
export function properties(schemas) {
  const all = new Map()
  for (const s of schemas) for (const [name, p] of Object.entries(s.properties ?? {})) all.set(name, {...all.get(name), ...p})
  return all
}

/**
 * Returns a first value for a schema: an example of it, or what it requires. The names of
 * placeholders are put in as plain text, as no such parameter may be declared.
 * @param {Schema} root @param {Schema} schema @returns {any}
 */
export function sample(root, schema) {
  const s = Object.assign({}, ...expand(root, schema, "", undefined).reverse())
  const hasPlaceholders = JSON.stringify(s.examples?.[0] ?? "{{").includes("{{")
  if (s.properties && s.required && hasPlaceholders) {
    return Object.fromEntries(s.required.map((/** @type {string} */ name) => [name, sample(root, s.properties[name])]))
  }
  const example = s.const ?? s.examples?.[0] ?? s.default ?? s.enum?.[0]
  if (example !== undefined) return JSON.parse(JSON.stringify(example).replace(/\{\{(\w+)\}\}/g, "$1"))
  return {string: "", integer: 1, number: 1, boolean: true, array: [], object: {}}[String([s.type].flat()[0])] ?? null
}

/** Writes a value in one line, with a space after colons and commas. @param {any} v @returns {string} */
export function write(v) {
  if (Array.isArray(v)) return `[${v.map(write).join(", ")}]`
  if (v === null || typeof v !== "object") return JSON.stringify(v)
  return `{${members(v)}}`
}

/** Writes the members of an object, without its brackets. @param {Record<string, any>} object @returns {string} */
export const members = object => Object.entries(object).map(([name, v]) => `${JSON.stringify(name)}: ${write(v)}`).join(", ")

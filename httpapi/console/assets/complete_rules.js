// @ts-check
// What the schema does not say about a routine: rules of the checker that involve several
// fields. Completion offers only what keeps them.
import {member, parse, plain, read} from "./json_text.js"

/** @typedef {import("./json_text.js").Step} Step */
/** @typedef {import("./json_text.js").Value} Value */

/** The names and indexes of a way, as in operations/0/endpoint. @param {string} text @param {Step[]} way @returns {string[]} */
const namesOf = (text, way) => way.map(s => s.container.kind === "array" ? "*" : s.member ? plain(text, s.member.key) : "")

/** The value of a member of the innermost object. @param {string} text @param {Step[]} way @param {string} name */
const sibling = (text, way, name) => read(text, member(text, way[way.length - 1].container, name))

/** The parameters that are declared. @param {string} text @returns {any[]} */
function parametersOf(text) {
  const declared = member(text, parse(text), "parameters")
  return (declared?.items ?? []).map(p => Object.fromEntries(p.members.map(m => [plain(text, m.key), read(text, m.value)]))).filter(p => p.name)
}

/** The names under which operations before a place keep what they got. @param {string} text @param {Step[]} way @returns {string[]} */
function storedBefore(text, way) {
  const operations = way.find(s => s.container.kind === "array")
  return (operations?.container.items.slice(0, operations.index) ?? []).flatMap(o =>
    plain(text, member(text, o, "type") ?? o) !== "return" ? read(text, member(text, o, "session_storage_key")) ?? [] : [])
}

/** Which rules of a value a parameter's type takes. @type {Record<string, string[]>} */
const rulesOf = {
  string: ["min_length", "max_length", "pattern", "enum_values"], email: ["min_length", "max_length", "pattern"],
  url: ["min_length", "max_length", "pattern"], integer: ["min_value", "max_value", "enum_values"],
  number: ["min_value", "max_value", "enum_values"], enum: ["enum_values"], date: ["format"],
}
const rules = new Set(Object.values(rulesOf).flat())

/** A value of each type of parameter. @type {Record<string, any>} */
const valueOf = {
  string: "Oslo", integer: 20, number: 2.5, boolean: true, date: "2031-02-03", datetime: "2031-02-03T06:00:00Z", email: "ann@shop.example",
  url: "https://shop.example/",
}

/** Which fields each type of a data_sanitizer's step takes; the first is needed. @type {Record<string, string[]>} */
const stepFields = {json_path: ["path", "paths"], drop: ["paths"], truncate: ["max_chars"]}
/** @type {Record<string, any>} */
const stepValues = {path: "$.items[*].name", paths: ["$.items[*].name"], max_chars: 8000}

/** The object that declares the parameter around a place, and its type. @param {string} text @param {Step[]} way */
function parameterAround(text, way) {
  const object = way[2]?.container
  return {object, type: read(text, member(text, object, "type")) ?? "string"}
}

/** Reports whether a way is inside a data_sanitizer. @param {string} text @param {Step[]} way */
const inStep = (text, way) => namesOf(text, way).slice(0, -1).includes("data_sanitizer")

/** Reports whether a key may be added to the innermost object of a way. @param {string} name @param {string} text @param {Step[]} way @returns {boolean} */
export function isOffered(name, text, way) {
  const has = (/** @type {string} */ other) => sibling(text, way, other) !== undefined
  if (namesOf(text, way)[0] === "parameters") {
    const {type} = parameterAround(text, way)
    if (rules.has(name)) return rulesOf[type]?.includes(name) ?? false
    if (name === "x-from-secret") return type === "string" && !has("default")
    return name !== "default" || !has("x-from-secret")
  }
  if (inStep(text, way)) return name === "type" || Boolean(stepFields[sibling(text, way, "type")]?.includes(name)) && !has("path") && !has("paths")
  if (name === "body") return has("method") && !["GET", "HEAD"].includes(sibling(text, way, "method"))
  return name !== "x-files" || parametersOf(text).some(p => p.type === "x-files")
}

/**
 * Returns the members that adding one of them adds: itself, with a value that fits the others,
 * and those that it needs.
 * @param {string} name @param {any} value @param {string} text @param {Step[]} way @returns {Record<string, any>}
 */
export function memberFor(name, value, text, way) {
  if (namesOf(text, way)[0] === "parameters") {
    const {object, type} = parameterAround(text, way)
    const validation = member(text, object, "validation")
    const isFree = type !== "date" && ![...object?.members ?? [], ...validation?.members ?? []].some(m => rules.has(plain(text, m.key)))
    const listed = read(text, member(text, object, "enum_values") ?? member(text, validation, "enum_values"))
    const first = listed?.[0] ?? (isFree ? valueOf[type] : undefined)
    if (name === "default") return {default: first ?? null}
    if (name === "examples") return {examples: first === undefined ? [] : [first]}
    if (name === "enum_values" && type in valueOf) return {enum_values: [valueOf[type]]}
  }
  return {[name]: value, ...companions(name, value, text, way)}
}

/**
 * Returns the members that a value of a member needs, without those that are there.
 * @param {string} name @param {any} value @param {string} text @param {Step[]} way @returns {Record<string, any>}
 */
function companions(name, value, text, way) {
  /** @type {Record<string, any>} */
  let add = {}
  if (name === "x-from-secret") add = {"x-secret": true}
  if (name === "scope" && value === "element") add = {selector: "main"}
  if (name === "type" && inStep(text, way) && stepFields[value]) add = {[stepFields[value][0]]: stepValues[stepFields[value][0]]}
  if (name === "type" && value === "enum" && namesOf(text, way)[0] === "parameters") add = {enum_values: ["economy", "business"]}
  return Object.fromEntries(Object.entries(add).filter(([key]) => sibling(text, way, key) === undefined))
}

/**
 * Returns the values of an enumeration, and which members each needs besides.
 * @param {any[]} schemas @param {string} text @param {Step[]} way @returns {{value: any, add: Record<string, any>}[]}
 */
export function valuesFor(schemas, text, way) {
  const listed = schemas.find(s => s.enum)?.enum ?? (schemas.some(s => s.type === "boolean") ? [true, false] : [])
  const step = way[way.length - 1]
  const name = step.member ? plain(text, step.member.key) : ""
  return listed.map((/** @type {any} */ value) => ({value, add: name ? companions(name, value, text, way) : {}}))
}

/** Returns the placeholders that may be used at a place. @param {string} text @param {Step[]} way @returns {{name: string, info?: string}[]} */
export function placeholders(text, way) {
  if (namesOf(text, way)[0] !== "operations") return []
  return [
    ...parametersOf(text).map(p => ({name: p.name, info: p.description})),
    ...storedBefore(text, way).map(key => ({name: `sessionStorage:${key}`, info: "What an operation before this one has kept"})),
    {name: "uuid", info: "A new UUID each time"}, {name: "epoch_milliseconds", info: "The present time"},
  ]
}

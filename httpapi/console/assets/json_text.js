// @ts-check
// The structure of a JSON text that is being written: what is missing or superfluous is
// passed over, so that a place in it can be named at any time.

/**
 * An object, array, string or other value. to is the offset after its last character. A
 * container or string that lacks its end is not closed.
 * @typedef {{kind: "object" | "array" | "string" | "scalar", from: number, to: number, closed: boolean, members: Member[], items: Value[]}} Value
 */
/** A key, its value if there is one, and whether a colon follows the key. @typedef {{key: Value, value?: Value, colon: boolean}} Member */
/** A container and the key or index by which the way to a place leads through it. @typedef {{container: Value, member?: Member, index: number}} Step */

/** @param {Value["kind"]} kind @param {number} from @param {number} to @param {boolean} closed @returns {Value} */
const value = (kind, from, to, closed) => ({kind, from, to, closed, members: [], items: []})

/** Every token: a bracket, colon or comma, a string that ends with its line at the latest, or another word. */
const tokens = /[{}[\]:,]|"(?:[^"\\\n]|\\.)*(?:"|\\?$)|[^\s{}[\]:,"]+/gm

/** Returns the outermost value of a text; an empty object that is not closed if there is none. @param {string} text @returns {Value} */
export function parse(text) {
  const top = value("array", -1, text.length + 1, false)
  const stack = [top]
  const add = (/** @type {Value} */ v) => {
    const container = stack[stack.length - 1]
    const last = container.members[container.members.length - 1]
    if (container.kind === "array") container.items.push(v)
    else if (last?.colon && !last.value) last.value = v
    else container.members.push({key: v, colon: false})
  }
  for (const {0: token, index: from} of text.matchAll(tokens)) {
    const to = from + token.length
    const container = stack[stack.length - 1]
    const last = container.members[container.members.length - 1]
    if (token === "{" || token === "[") {
      const v = value(token === "{" ? "object" : "array", from, text.length + 1, false)
      add(v)
      stack.push(v)
    } else if (token === "}" || token === "]") {
      const begun = stack.findLastIndex(v => v.kind === (token === "}" ? "object" : "array"))
      if (begun > 0) {
        Object.assign(stack[begun], {to, closed: true})
        for (const v of stack.splice(begun).slice(1)) v.to = from
      }
    } else if (token === ":") {
      if (last) last.colon = true
    } else if (token === ",") {
      // A key that a comma ends has no value: the next word is a key.
      if (last?.colon && !last.value) last.value = value("scalar", from, from, true)
    } else {
      const isString = token[0] === '"'
      add(value(isString ? "string" : "scalar", from, to, !isString || token.length > 1 && isQuoted(token)))
    }
  }
  return top.items[0] ?? value("object", text.length, text.length, false)
}

/** Reports whether a string token has its closing quote. @param {string} token */
function isQuoted(token) {
  const end = /(\\*)"$/.exec(token)
  return end !== null && end[1].length % 2 === 0
}

/** Returns what a value is, with JSON.parse; undefined if it is not whole. @param {string} text @param {Value | undefined} v */
export function read(text, v) {
  try {
    return v && JSON.parse(text.slice(v.from, v.to))
  } catch {
    return undefined
  }
}

/** Returns the text of a key or string, without its quotes, even if it is not whole. @param {string} text @param {Value} v @returns {string} */
export const plain = (text, v) => String(read(text, v) ?? text.slice(v.from, v.to).replace(/^"|"$/g, ""))

/** Returns the value of a member of an object. @param {string} text @param {Value | undefined} object @param {string} name */
export const member = (text, object, name) => object?.members.find(m => plain(text, m.key) === name)?.value

/** Reports whether an offset is inside a value, not at its edges. @param {Value} v @param {number} at */
const inside = (v, at) => v.from < at && (at < v.to || !v.closed && at <= v.to)

/** Returns the way from the outermost value to the innermost container around an offset. @param {Value} root @param {number} at @returns {Step[]} */
export function wayTo(root, at) {
  /** @type {Step[]} */
  const way = []
  for (let v = /** @type {Value | undefined} */ (root); v && inside(v, at) && (v.kind === "object" || v.kind === "array");) {
    const members = v.members
    const begun = v.kind === "object" ? members.findLastIndex(m => m.key.from < at) : v.items.findLastIndex(i => i.from < at)
    const step = {container: v, index: begun, member: members[begun]}
    way.push(step)
    v = v.kind === "object" ? step.member?.value : v.items[begun]
  }
  return way
}

/**
 * Returns the key, string or other word that an offset is in or, for a word without quotes, at
 * the end of; and whether it is a key.
 * @param {Step | undefined} step The last step of the way to the offset. @param {number} at
 * @returns {{token: Value, isKey: boolean} | undefined}
 */
export function tokenAt(step, at) {
  if (!step) return undefined
  const has = (/** @type {Value | undefined} */ v) => v && (inside(v, at) || v.kind === "scalar" && v.from < at && at <= v.to)
  const {member, container, index} = step
  if (member && has(member.key)) return {token: member.key, isKey: true}
  const v = member?.value ?? container.items[index]
  return v && has(v) ? {token: v, isKey: false} : undefined
}

/** Returns the value at a JSON pointer, or the nearest one around it. @param {string} text @param {string} pointer @returns {Value} */
export function find(text, pointer) {
  let v = parse(text)
  for (const escaped of pointer.split("/").slice(1)) {
    const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~")
    const next = v.kind === "array" ? v.items[Number(name)] : member(text, v, name)
    if (!next) return v
    v = next
  }
  return v
}

/** Returns the end of the key or value that begins at an offset; the offset itself if none does. @param {Value} root @param {number} from @returns {number} */
export function endOf(root, from) {
  if (root.from === from) return root.to
  const step = wayTo(root, from + 1).findLast(s => s.member?.key.from === from || (s.member?.value ?? s.container.items[s.index])?.from === from)
  if (!step) return from
  return step.member?.key.from === from ? step.member.key.to : (step.member?.value ?? step.container.items[step.index]).to
}

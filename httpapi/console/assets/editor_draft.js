// @ts-check
// Drafts: the text of an editor that differs from what is stored, kept in the tab's
// sessionStorage until it is saved or discarded.

/** A text, when it was kept, and whether the form was sent with it since. @typedef {{text: string, at: number, sent: boolean}} Draft */

export class Drafts {
  /** @param {string} key The routine. @param {string} version The version that the text is changed from; empty for a new routine. */
  constructor(key, version) {
    this.prefix = `rote-draft ${key} `
    this.version = version
    this.name = this.prefix + version
  }

  /**
   * Returns the draft to go on with, and its version. A draft of an older version that was sent
   * is in the newer one: it is removed.
   * @param {string} text The text of the page. @returns {Draft & {version: string} | undefined}
   */
  find(text) {
    for (const name of Object.keys(sessionStorage).filter(n => n.startsWith(this.prefix)).sort(n => n === this.name ? -1 : 1)) {
      const version = name.slice(this.prefix.length)
      /** @type {Draft | undefined} */
      const draft = JSON.parse(sessionStorage.getItem(name) ?? "null") ?? undefined
      if (draft && draft.text !== text && !(draft.sent && version !== this.version)) return {...draft, version}
      sessionStorage.removeItem(name)
    }
    return undefined
  }

  /** Keeps a text; reports whether there was room for it. @param {string} text @param {boolean} sent */
  keep(text, sent) {
    try {
      sessionStorage.setItem(this.name, JSON.stringify({text, at: Date.now(), sent}))
      return true
    } catch {
      return false
    }
  }

  /** Removes the draft of a version. @param {string} version */
  drop(version = this.version) {
    sessionStorage.removeItem(this.prefix + version)
  }
}

// Runs in the helper's world, only after an operation has failed: finds secrets in the
// texts of a page. Texts are compared without case and white space, and numbers by value.
(secrets => {
  'use strict';
  const least = 3; // characters; a shorter secret is only hidden if it is the whole text
  const fold = text => text.replace(/[\s\p{Cc}\p{Cf}+]+/gu, '').toLowerCase();
  const numbers = /\d{1,3}(?:,\d{3})+(?:\.\d*)?(?:e[+-]?\d+)?|\d*\.?\d+\.?(?:e[+-]?\d+)?/gi;
  const worth = number => Math.abs(+number.replaceAll(',', ''));

  const folded = [...new Set((secrets ?? []).map(fold))].filter(Boolean);
  const long = folded.filter(s => s.length >= least), short = new Set(folded);
  const values = new Set((secrets ?? []).filter(s => /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(s)).map(worth));
  const equal = (number, text) => (number.length >= least || number.length === text.length) && values.has(worth(number));

  // holdsFolded is for texts that are folded already. In them, NUL separates texts that are
  // not read as one.
  const holdsFolded = text => long.some(s => text.includes(s)) || text.split('\0').some(part =>
    short.has(part) || values.size > 0 && (part.match(numbers) ?? []).some(n => equal(n, part)));
  const holds = text => holdsFolded(fold(text));

  // hide is the text with each secret replaced; in a truncated text also the beginning of a
  // secret at its end.
  function hide(text, cut = false) {
    if (!cut && !holds(text)) return text;
    if (short.has(fold(text))) return '***';
    let all = '', at = 0;
    const from = [], to = []; // the place of each folded character in the text
    for (const c of text) {
      for (const f of fold(c)) for (let i = 0; i < f.length; i++) { all += f[i]; from.push(at); to.push(at + c.length); }
      at += c.length;
    }
    const found = [];
    for (const s of long) for (let i = all.indexOf(s); i >= 0; i = all.indexOf(s, i + s.length)) found.push([from[i], to[i + s.length - 1]]);
    if (cut) for (const s of long) {
      let n = Math.min(s.length - 1, all.length);
      while (n > 0 && !all.endsWith(s.slice(0, n))) n--;
      if (n > 0) found.push([from[all.length - n], text.length]);
    }
    if (values.size) for (const m of text.matchAll(numbers)) if (equal(m[0], text.trim())) found.push([m.index, m.index + m[0].length]);
    found.sort((a, b) => a[0] - b[0]);
    let shown = '', end = 0;
    for (const [begin, until] of found) {
      if (begin >= end) shown += text.slice(end, begin) + '***';
      end = Math.max(end, until);
    }
    return shown + text.slice(end);
  }

  const longest = Math.max(0, ...long.map(s => s.length));
  return { longest, any: folded.length > 0, numeric: values.size > 0, fold, holds, holdsFolded, hide };
})

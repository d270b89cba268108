// The value of a constant in the page's own world, by which a breakpoint on one of
// the browser's functions tells calls of the page's from those that the guard must
// look at. It is made before the first watched script runs and must hold against
// all that such a script may have done since: it calls nothing but functions that
// it has kept, reads no property that could be inherited, and sets none.
(() => {
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, setPrototypeOf } = Reflect;
  const { hasOwn } = Object, { startsWith } = String.prototype, TheError = Error, { captureStackTrace } = Error;
  const sites = (_, list) => list;
  const limit = 20;

  // set makes a property of Error a plain one and returns what puts it back.
  const set = (name, value) => {
    const was = getOwnPropertyDescriptor(TheError, name);
    if (!defineProperty(TheError, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true })) throw 0;
    return was && setPrototypeOf(was, null) && was;
  };
  const reset = (name, was) => {
    if (was ? !defineProperty(TheError, name, was) : !deleteProperty(TheError, name)) throw 0;
  };

  // The functions of a call site, which anyone can reach.
  const probe = { __proto__: null };
  const before = [set('prepareStackTrace', sites), set('stackTraceLimit', limit)];
  captureStackTrace(probe);
  const site = probe.stack[0], { getScriptNameOrSourceURL, getLineNumber, isEval } = site;
  reset('prepareStackTrace', before[0]);
  reset('stackTraceLimit', before[1]);

  // isPages reports whether the nearest code on the stack certainly is the page's:
  // it has a URL that no script of ours has. The code at own asks, and below it
  // as many frames as skip are the function that is called itself.
  return (own, skip) => {
    try {
      const prepare = set('prepareStackTrace', sites), length = set('stackTraceLimit', limit);
      const here = { __proto__: null };
      captureStackTrace(here);
      const list = hasOwn(here, 'stack') ? here.stack : [];
      reset('prepareStackTrace', prepare);
      reset('stackTraceLimit', length);
      for (let i = 0; i < list.length; i++) {
        const url = apply(getScriptNameOrSourceURL, list[i], []);
        if (!url && apply(getLineNumber, list[i], []) === null && !apply(isEval, list[i], [])) continue; // the browser's
        if (url === own || skip-- > 0) continue;
        return typeof url === 'string' && url !== '' && !apply(startsWith, url, ['about:']);
      }
      return false;
    } catch {
      return false;
    }
  };
})()

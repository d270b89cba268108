// The value of a constant in the page's main world. The condition of a breakpoint on a
// browser function uses it to distinguish calls by page code from calls that the guard
// must look at. It is created before the first watched script runs and must withstand
// whatever such a script does later: it calls only functions that it has saved, and
// reads and sets no property that could be inherited.
(() => {
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, setPrototypeOf } = Reflect;
  const { hasOwn } = Object, { startsWith } = String.prototype, TheError = Error, { captureStackTrace } = Error;
  const sites = (_, list) => list;
  const limit = 20;

  // set replaces a property of Error by a data property and returns the descriptor that
  // restores it.
  const set = (name, value) => {
    const was = getOwnPropertyDescriptor(TheError, name);
    if (!defineProperty(TheError, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true })) throw 0;
    return was && setPrototypeOf(was, null) && was;
  };
  const reset = (name, was) => {
    if (was ? !defineProperty(TheError, name, was) : !deleteProperty(TheError, name)) throw 0;
  };

  // The methods of a call site are on a prototype that every script can reach.
  const probe = { __proto__: null };
  const before = [set('prepareStackTrace', sites), set('stackTraceLimit', limit)];
  captureStackTrace(probe);
  const site = probe.stack[0], { getScriptNameOrSourceURL, getLineNumber, isEval } = site;
  reset('prepareStackTrace', before[0]);
  reset('stackTraceLimit', before[1]);

  // isPages reports whether the innermost code on the stack is certainly page code: it
  // has a URL that no js_evaluate script has. own is the URL of the condition itself;
  // skip is the number of frames below it that belong to the called function.
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

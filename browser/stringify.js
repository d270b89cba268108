// Encodes the value of a script as JSON. It is saved in each new document before the page's
// own code runs, so that pages do not change what scripts return when they replace JSON or
// JSON.stringify, or define toJSON for arrays, objects and strings, as old libraries do. Any
// other toJSON is used: the value's own, or that of its class.
(() => {
  const { stringify } = JSON, { isArray } = Array, { isFinite } = Number, { keys } = Object;
  const { apply, get, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { valueOf: numberOf } = Number.prototype, { valueOf: textOf } = String.prototype, { valueOf: booleanOf } = Boolean.prototype;
  const TheTypeError = TypeError, plain = [Array, Object, String, Number, Boolean, Function];
  for (let i = 0; i < plain.length; i++) plain[i] = plain[i].prototype;

  // owner is the object in the prototype chain that has the property.
  const owner = (o, name) => {
    while (o && !getOwnPropertyDescriptor(o, name)) o = getPrototypeOf(o);
    return o;
  };
  const isPlain = o => {
    for (let i = 0; i < plain.length; i++) if (o === plain[i]) return true;
    return false;
  };
  const is = (o, valueOf) => { try { apply(valueOf, o, []); return true; } catch { return false; } };

  // write encodes a value like JSON.stringify; within are the objects that contain it.
  const write = (value, name, within) => {
    if (value !== null && typeof value === 'object' || typeof value === 'function' || typeof value === 'bigint') {
      const method = value.toJSON;
      if (typeof method === 'function') {
        const has = owner(typeof value === 'bigint' ? getPrototypeOf(Object(value)) : value, 'toJSON');
        if (!has || has === value || !isPlain(has)) value = apply(method, value, [name]);
      }
    }
    if (typeof value === 'object' && value !== null) {
      if (is(value, numberOf)) value = apply(numberOf, value, []);
      else if (is(value, textOf)) value = apply(textOf, value, []);
      else if (is(value, booleanOf)) value = apply(booleanOf, value, []);
    }
    switch (typeof value) {
      case 'string': return stringify(value);
      case 'number': return isFinite(value) ? '' + value : 'null';
      case 'boolean': return value ? 'true' : 'false';
      case 'bigint': throw new TheTypeError('Do not know how to serialize a BigInt');
      case 'object': break;
      default: return undefined;
    }
    if (value === null) return 'null';
    for (let at = within; at; at = at.within) if (at.value === value) throw new TheTypeError('Converting circular structure to JSON');
    const here = { __proto__: null, value, within };
    let text = '';
    if (isArray(value)) {
      const { length } = value;
      for (let i = 0; i < length; i++) text += (i ? ',' : '') + (write(value[i], '' + i, here) ?? 'null');
      return '[' + text + ']';
    }
    const names = keys(value);
    for (let i = 0; i < names.length; i++) {
      const part = write(get(value, names[i]), names[i], here);
      if (part !== undefined) text += (text ? ',' : '') + stringify(names[i]) + ':' + part;
    }
    return '{' + text + '}';
  };

  // Where no one has given the language's own objects a toJSON, the browser's
  // function does the same faster.
  return value => {
    for (let i = 0; i < plain.length; i++) if (getOwnPropertyDescriptor(plain[i], 'toJSON')) return write(value, '', null);
    return stringify(value);
  };
})()

// Runs in the helper's world before a picture is taken: puts out of sight what
// it must not show. Passwords always; where the run has secrets, also what holds
// one, and what may hold one but cannot be looked into. Frames of other origins
// are asked themselves.
(secrets => {
  'use strict';
  secrets ??= [];
  const { all } = rote.inner;
  const holds = text => secrets.some(s => s.length < 3 ? text.trim() === s : text.includes(s));
  const sealed = /\b(current-password|new-password|one-time-code|cc-number|cc-csc)\b/;

  // vanish hides what is inside e too, at once, whatever the page's styles say.
  const vanish = e => {
    for (const name of ['transition', 'animation']) e.style?.setProperty(name, 'none', 'important');
    e.style?.setProperty('visibility', 'hidden', 'important');
    e.style?.setProperty('opacity', '0', 'important');
  };

  // shroud hides the smallest elements whose text holds a secret.
  function shroud(e) {
    if (!holds(e.textContent)) return;
    const inner = e.localName === 'select' ? [] : [...e.children].filter(c => holds(c.textContent));
    if (inner.length) inner.forEach(shroud);
    else vanish(e);
  }

  for (const { e } of all('input,textarea', Infinity)) {
    if (e.type === 'password' || sealed.test(e.autocomplete) || holds(e.value) || holds(e.placeholder)) vanish(e);
  }
  if (secrets.length) {
    for (const { e } of all('*', Infinity)) if (!e.parentElement) shroud(e);
    for (const { e } of all('canvas,object,embed', Infinity)) vanish(e);
  }
  return { x: scrollX, y: scrollY, width: innerWidth, height: innerHeight };
})

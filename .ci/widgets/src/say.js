// say shows the value of a widget in the page, where routines read it.
const values = {};
export function say(name, value) {
  values[name] = value;
  document.querySelector('#said').textContent = Object.entries(values).map(([k, v]) => `${k}=${v};`).join('\n');
}
export const root = document.querySelector('#root');

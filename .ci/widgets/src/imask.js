import IMask from 'imask';
import { say, root } from './say.js';

root.innerHTML = '<input id=phone><input id=amount><input id=day>';
const mask = (id, options) => { const m = IMask(document.getElementById(id), options); m.on('accept', () => say(id, m.value)); };
mask('phone', { mask: '+{1} (000) 000-0000', lazy: false });
mask('amount', { mask: Number, thousandsSeparator: ',', radix: '.' });
mask('day', { mask: Date, lazy: false });

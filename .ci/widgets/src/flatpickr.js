import flatpickr from 'flatpickr';
import 'flatpickr/dist/flatpickr.css';
import { say, root } from './say.js';

root.innerHTML = '<input id=day><input id=span>';
flatpickr('#day', { defaultDate: '2030-05-01', onChange: (_, text) => say('day', text) });
flatpickr('#span', { mode: 'range', minDate: '2030-05-01', maxDate: '2030-06-30', onChange: (_, text) => say('span', text) });

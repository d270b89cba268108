import $ from 'jquery';
import select2 from 'select2';
import 'select2/dist/css/select2.css';
import { say, root } from './say.js';

if (typeof select2 === 'function' && !$.fn.select2) select2(window, $);
const options = ['Amber', 'Beige', 'Coral', 'Denim', 'Ebony', 'Fawn'].map(o => `<option>${o}</option>`).join('');
root.innerHTML = `<select id=one style="width:200px"><option></option>${options}</select><select id=many multiple style="width:300px">${options}</select>`;
for (const id of ['one', 'many']) $('#' + id).select2().on('change', () => say(id, $('#' + id).val()));

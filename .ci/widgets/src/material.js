import '@material/web/all.js';
import { say, root } from './say.js';

root.innerHTML = `
<md-outlined-text-field id=name label=Name></md-outlined-text-field>
<md-filled-text-field id=note type=textarea label=Note></md-filled-text-field>
<md-outlined-select id=fruit label=Fruit style="width:200px"><md-select-option value=apple><div slot=headline>Apple</div></md-select-option>
<md-select-option value=pear><div slot=headline>Pear</div></md-select-option></md-outlined-select>
<label><md-checkbox id=terms></md-checkbox>Terms</label><md-switch id=news></md-switch>
<md-radio id=small name=size value=small></md-radio><md-radio id=large name=size value=large></md-radio>
<md-slider id=volume min=0 max=10 value=5></md-slider>
<md-filled-button id=open>Open</md-filled-button>
<md-dialog id=dialog><div slot=headline>Delete it?</div><div slot=actions><md-text-button id=yes>Yes</md-text-button></div></md-dialog>
<md-tabs><md-primary-tab id=one>One</md-primary-tab><md-primary-tab id=two>Two</md-primary-tab></md-tabs>`;
const at = id => document.getElementById(id);
for (const id of ['name', 'note', 'volume']) at(id).addEventListener('input', e => say(id, e.target.value));
at('fruit').addEventListener('change', e => say('fruit', e.target.value));
for (const id of ['terms']) at(id).addEventListener('change', e => say(id, e.target.checked));
at('news').addEventListener('change', e => say('news', e.target.selected));
for (const id of ['small', 'large']) at(id).addEventListener('change', e => say('size', e.target.value));
at('open').addEventListener('click', () => at('dialog').show());
at('yes').addEventListener('click', () => { at('dialog').close(); say('dialog', 'yes'); });
document.querySelector('md-tabs').addEventListener('change', e => say('tab', e.target.activeTabIndex));

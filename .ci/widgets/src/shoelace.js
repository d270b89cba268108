import '@shoelace-style/shoelace/dist/themes/light.css';
import '@shoelace-style/shoelace/dist/components/button/button.js';
import '@shoelace-style/shoelace/dist/components/checkbox/checkbox.js';
import '@shoelace-style/shoelace/dist/components/details/details.js';
import '@shoelace-style/shoelace/dist/components/dialog/dialog.js';
import '@shoelace-style/shoelace/dist/components/drawer/drawer.js';
import '@shoelace-style/shoelace/dist/components/dropdown/dropdown.js';
import '@shoelace-style/shoelace/dist/components/input/input.js';
import '@shoelace-style/shoelace/dist/components/menu/menu.js';
import '@shoelace-style/shoelace/dist/components/menu-item/menu-item.js';
import '@shoelace-style/shoelace/dist/components/option/option.js';
import '@shoelace-style/shoelace/dist/components/select/select.js';
import '@shoelace-style/shoelace/dist/components/switch/switch.js';
import { say, root } from './say.js';

root.innerHTML = `
<sl-input id=name label=Name></sl-input>
<sl-select id=colour label=Colour><sl-option value=red>Red</sl-option><sl-option value=blue>Blue</sl-option></sl-select>
<sl-checkbox id=terms>Terms</sl-checkbox><sl-switch id=news>News</sl-switch>
<sl-details id=more summary=More><sl-button id=inside>Inside</sl-button></sl-details>
<sl-dropdown id=menu><sl-button id=trigger slot=trigger caret>Menu</sl-button><sl-menu><sl-menu-item id=paste value=paste>Paste</sl-menu-item></sl-menu></sl-dropdown>
<sl-button id=open>Drawer</sl-button>
<sl-drawer id=drawer label=Filters>Body<sl-button id=apply slot=footer>Apply</sl-button></sl-drawer>`;
const at = id => document.getElementById(id);
at('name').addEventListener('sl-input', e => say('name', e.target.value));
at('colour').addEventListener('sl-change', e => say('colour', e.target.value));
for (const id of ['terms', 'news']) at(id).addEventListener('sl-change', e => say(id, e.target.checked));
at('inside').addEventListener('click', () => say('inside', 'clicked'));
at('menu').addEventListener('sl-select', e => say('menu', e.detail.item.value));
at('open').addEventListener('click', () => at('drawer').show());
at('apply').addEventListener('click', () => { at('drawer').hide(); say('drawer', 'applied'); });

import { AllCommunityModule, ModuleRegistry, createGrid } from 'ag-grid-community';
import { say, root } from './say.js';

ModuleRegistry.registerModules([AllCommunityModule]);
root.style.cssText = 'height:400px;width:600px';
createGrid(root, {
  columnDefs: [
    { field: 'name', filter: 'agTextColumnFilter', floatingFilter: true },
    { field: 'price', editable: true, sortable: true },
    { field: 'stock', sortable: true },
  ],
  rowData: Array.from({ length: 1000 }, (_, i) => ({ name: 'Item ' + i, price: (i * 37) % 1000, stock: i })),
  getRowId: p => p.data.name,
  onCellValueChanged: e => say('edited', `${e.data.name}:${e.newValue}`),
  onSortChanged: e => say('first', e.api.getDisplayedRowAtIndex(0).data.name),
  onFilterChanged: e => say('rows', e.api.getDisplayedRowCount()),
});

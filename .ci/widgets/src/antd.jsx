import { useState } from 'react';
import dayjs from 'dayjs';
import { createRoot } from 'react-dom/client';
import { AutoComplete, Button, Cascader, DatePicker, Dropdown, InputNumber, Modal, Popconfirm, Radio, Select, Switch, Table, TreeSelect } from 'antd';
import { say, root } from './say.js';

const places = [{ value: 'asia', label: 'Asia', children: [{ value: 'japan', label: 'Japan' }] }, { value: 'europe', label: 'Europe', children: [{ value: 'italy', label: 'Italy' }] }];
const tree = [{ value: 'fruit', title: 'Fruit', children: [{ value: 'pear', title: 'Pear' }] }];
const rows = Array.from({ length: 25 }, (_, i) => ({ key: i, name: 'Row ' + i, age: (i * 7) % 25 }));
const columns = [{ title: 'Name', dataIndex: 'name' }, { title: 'Age', dataIndex: 'age', sorter: (a, b) => a.age - b.age, className: 'age' }];

function Page() {
  const [open, setOpen] = useState(false);
  return <>
    <Select id="city" style={{ width: 200 }} showSearch options={['Berlin', 'Bern', 'Bonn', 'Oslo'].map(value => ({ value, label: value }))} onChange={v => say('city', v)} />
    <Select id="tags" style={{ width: 300 }} mode="multiple" options={['red', 'green', 'blue'].map(value => ({ value, label: value }))} onChange={v => say('tags', v)} />
    <DatePicker id="day" defaultPickerValue={dayjs('2030-05-01')} onChange={(_, text) => say('day', text)} />
    <InputNumber id="count" min={0} onChange={v => say('count', v)} />
    <AutoComplete id="mail" style={{ width: 200 }} options={[{ value: 'ann@one.example' }, { value: 'ann@two.example' }]} onSelect={v => say('mail', v)} />
    <Cascader id="place" options={places} onChange={v => say('place', v)} />
    <TreeSelect id="tree" style={{ width: 200 }} treeDefaultExpandAll treeData={tree} onChange={v => say('tree', v)} />
    <Radio.Group onChange={e => say('size', e.target.value)}><Radio.Button value="s">S</Radio.Button><Radio.Button value="l">L</Radio.Button></Radio.Group>
    <Switch id="switch" onChange={v => say('switch', v)} />
    <Dropdown menu={{ items: [{ key: 'copy', label: 'Copy' }], onClick: e => say('dropdown', e.key) }}><Button id="hover">Hover me</Button></Dropdown>
    <Popconfirm title="Sure?" okButtonProps={{ id: 'sure' }} onConfirm={() => say('confirm', 'sure')}><Button id="remove">Remove</Button></Popconfirm>
    <Button id="modal" onClick={() => setOpen(true)}>Modal</Button>
    <Modal title="Modal" open={open} okButtonProps={{ id: 'ok' }} onOk={() => { setOpen(false); say('modal', 'ok'); }} onCancel={() => setOpen(false)}>Body</Modal>
    <Table dataSource={rows} columns={columns} pagination={{ pageSize: 5 }} />
  </>;
}
createRoot(root).render(<Page />);

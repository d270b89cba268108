import { useState } from 'react';
import dayjs from 'dayjs';
import { createRoot } from 'react-dom/client';
import {
  Autocomplete, Button, Checkbox, Dialog, DialogActions, DialogTitle, Drawer, FormControl, FormControlLabel, InputLabel, Menu, MenuItem, Radio,
  RadioGroup, Rating, Select, Switch, Tab, Tabs, TextField,
} from '@mui/material';
import { LocalizationProvider } from '@mui/x-date-pickers';
import { AdapterDayjs } from '@mui/x-date-pickers/AdapterDayjs';
import { DatePicker } from '@mui/x-date-pickers/DatePicker';
import { say, root } from './say.js';

const films = ['Alien', 'Brazil', 'Casablanca', 'Dune', 'Fargo', 'Heat', 'Metropolis', 'Stalker'];

function Page() {
  const [anchor, setAnchor] = useState(null);
  const [dialog, setDialog] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const [country, setCountry] = useState('');
  const [tab, setTab] = useState(0);
  return <LocalizationProvider dateAdapter={AdapterDayjs}>
    <TextField id="name" label="Name" onChange={e => say('name', e.target.value)} />
    <Autocomplete id="film" options={films} sx={{ width: 300 }} onChange={(_, v) => say('film', v)} renderInput={p => <TextField {...p} label="Film" />} />
    <FormControl sx={{ width: 200 }}>
      <InputLabel id="country-label">Country</InputLabel>
      <Select id="country" labelId="country-label" label="Country" value={country} onChange={e => { setCountry(e.target.value); say('country', e.target.value); }}>
        {['Austria', 'Belgium', 'Chile'].map(c => <MenuItem key={c} value={c} data-country={c}>{c}</MenuItem>)}
      </Select>
    </FormControl>
    <DatePicker label="Day" referenceDate={dayjs('2030-05-01')} onChange={d => say('day', d && d.isValid() ? d.format('YYYY-MM-DD') : 'none')} />
    <FormControlLabel control={<Checkbox id="terms" onChange={e => say('terms', e.target.checked)} />} label="Terms" />
    <FormControlLabel control={<Switch id="news" onChange={e => say('news', e.target.checked)} />} label="News" />
    <RadioGroup row name="size" onChange={e => say('size', e.target.value)}>
      <FormControlLabel value="small" control={<Radio />} label="Small" /><FormControlLabel value="large" control={<Radio />} label="Large" />
    </RadioGroup>
    <Rating name="stars" onChange={(_, v) => say('stars', v)} />
    <Tabs value={tab} onChange={(_, v) => { setTab(v); say('tab', v); }}><Tab id="tab-one" label="One" /><Tab id="tab-two" label="Two" /></Tabs>
    <Button id="more" onClick={e => setAnchor(e.currentTarget)}>More</Button>
    <Menu anchorEl={anchor} open={!!anchor} onClose={() => setAnchor(null)}>
      <MenuItem id="archive" onClick={() => { setAnchor(null); say('menu', 'archive'); }}>Archive</MenuItem>
    </Menu>
    <Button id="delete" onClick={() => setDialog(true)}>Delete</Button>
    <Dialog open={dialog} onClose={() => setDialog(false)}>
      <DialogTitle>Delete it?</DialogTitle>
      <DialogActions><Button id="confirm" onClick={() => { setDialog(false); say('dialog', 'confirmed'); }}>Yes</Button></DialogActions>
    </Dialog>
    <Button id="open-drawer" onClick={() => setDrawer(true)}>Filters</Button>
    <Drawer anchor="right" open={drawer} onClose={() => setDrawer(false)}>
      <Button id="apply" sx={{ width: 250 }} onClick={() => { setDrawer(false); say('drawer', 'applied'); }}>Apply</Button>
    </Drawer>
  </LocalizationProvider>;
}
createRoot(root).render(<Page />);

// Hides contenders everywhere in the page, and keeps which ones in the URL's fragment:
// #only=gossamer/single,go shows these two, #find=tokio those with that in their name, and
// #against=go puts the overview's means against go.
'use strict';
(() => {
  const by = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const boxes = all('input.contender');
  const categories = all('input.category');
  const find = by('find');
  const names = boxes.map((box) => box.value);
  const rows = all('.overview tbody tr');
  const against = by('against');
  const usual = document.querySelector('.overview')?.dataset.against ?? '';
  let shownAgainst = usual;
  let unknown = [];

  for (const name of names.filter((name) => rows.some((row) => row.dataset.contender === name))) {
    against.append(new Option(name, name));
  }

  const inCategory = (name) => boxes.filter((box) => box.closest('label').dataset.of === name);
  const isShown = (box) => box.checked && box.value.toLowerCase().includes(find.value.trim().toLowerCase());

  // Names as in a command line: only what would mean something else in the fragment is encoded.
  const encode = (text) => encodeURIComponent(text).replaceAll('%2F', '/');

  function fragment() {
    const parts = [];
    const ticked = boxes.filter((box) => box.checked).map((box) => encode(box.value));
    if (ticked.length < boxes.length) parts.push('only=' + ticked.join(','));
    if (find.value.trim()) parts.push('find=' + encode(find.value.trim()));
    if (against.value !== usual) parts.push('against=' + encode(against.value));
    return '#' + parts.join('&');
  }

  function read() {
    const given = {};
    for (const part of location.hash.slice(1).split('&')) {
      const [key, ...value] = part.split('=');
      if (value.length) given[key] = value.join('=');
    }
    const decode = (text) => {
      try { return decodeURIComponent(text); } catch { return text; }
    };
    const only = given.only === undefined ? names : given.only.split(',').filter(Boolean).map(decode);
    unknown = only.filter((name) => !names.includes(name));
    for (const box of boxes) box.checked = only.includes(box.value);
    find.value = decode(given.find ?? '');
    const other = decode(given.against ?? '');
    against.value = rows.some((row) => row.dataset.contender === other) ? other : usual;
  }

  // Three digits, as in the rest of the page.
  function figure(value) {
    if (value < 9.995) return value.toFixed(2);
    if (value < 99.95) return value.toFixed(1);
    return Number(value.toPrecision(3)).toLocaleString('en-US');
  }

  // Geometric means of the ratios to one contender, over the columns that both have.
  function means() {
    const ratios = (row) => row.dataset.ratios.split(' ').map(Number);
    const base = rows.find((row) => row.dataset.contender === against.value);
    if (!base || against.value === shownAgainst) return;
    shownAgainst = against.value;
    by('named').textContent = `against ${shownAgainst}`;
    const bases = ratios(base);
    for (const row of rows) {
      const logs = ratios(row).map((ratio, at) => Math.log(ratio / bases[at])).filter(Number.isFinite);
      const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
      const square = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
      const cell = row.querySelector('td.against');
      cell.textContent = '';
      cell.title = '';
      if (!logs.length) continue;
      const deviation = Math.exp(Math.sqrt(square / (logs.length - 1)));
      const small = document.createElement('small');
      small.textContent = logs.length === 1 ? ' of 1' : ` ×÷ ${figure(deviation)} of ${logs.length}`;
      cell.append(figure(Math.exp(mean)), small);
      cell.title = `from ${figure(Math.exp(Math.min(...logs)))} to ${figure(Math.exp(Math.max(...logs)))}`;
    }
  }

  // At most so many contenders are in a chart, until its button is clicked.
  const most = 10;
  const buttons = new Map();
  for (const svg of all('svg.bars, svg.lines')) {
    if (!svg.querySelector('g[data-contender]')) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'more';
    button.addEventListener('click', () => { svg.dataset.all = svg.dataset.all ? '' : 'yes'; apply(); });
    svg.after(button);
    buttons.set(svg, button);
  }

  function hideSome(svg, button) {
    const left = all('g[data-contender]', svg).filter((layer) => layer.style.display !== 'none');
    left.sort((a, b) => a.dataset.rank - b.dataset.rank);
    button.hidden = left.length <= most;
    button.textContent = svg.dataset.all ? `only ${most}` : `${left.length - most} more`;
    if (!svg.dataset.all) for (const layer of left.slice(most)) layer.style.display = 'none';
  }

  // Bars stand where the ones before them end: closes the gaps of hidden ones.
  function closeGaps(svg) {
    const top = Number(svg.dataset.top), step = Number(svg.dataset.step);
    let place = 0;
    for (const bar of all('g[data-contender]', svg)) {
      if (bar.style.display === 'none') continue;
      bar.setAttribute('transform', `translate(0 ${top + step * place})`);
      place += 1;
    }
    const width = svg.viewBox.baseVal.width;
    svg.setAttribute('viewBox', `0 0 ${width} ${top + step * place + 4}`);
  }

  // Names at the ends of the lines that are left, as near to them as others allow.
  function placeNames(svg) {
    const { top, bottom, step: wanted } = Object.fromEntries(Object.entries(svg.dataset).map(([key, value]) => [key, Number(value)]));
    const lines = all('g[data-contender]', svg).filter((line) => line.style.display !== 'none');
    const ends = lines.map((line) => ({ name: line.querySelector('.end'), at: Number(line.dataset.end) }));
    ends.sort((a, b) => a.at - b.at);
    const step = Math.min(wanted, Math.floor((bottom - top) / Math.max(ends.length, 1)));
    let least = top;
    for (const end of ends) least = (end.at = Math.max(end.at, least)) + step;
    let most = bottom;
    for (const end of ends.reverse()) most = (end.at = Math.min(end.at, most)) - step;
    for (const end of ends) end.name.setAttribute('transform', `translate(0 ${end.at - 6})`);
  }

  function apply() {
    means();
    const shown = new Set(boxes.filter(isShown).map((box) => box.value));
    for (const element of all('[data-contender]')) {
      const off = names.includes(element.dataset.contender) && !shown.has(element.dataset.contender);
      if (element instanceof SVGElement) element.style.display = off ? 'none' : '';
      else element.hidden = off;
    }
    for (const [svg, button] of buttons) {
      hideSome(svg, button);
      (svg.classList.contains('bars') ? closeGaps : placeNames)(svg);
    }
    for (const block of all('.skipped')) block.hidden = all('li', block).every((row) => row.hidden);
    for (const block of all('.race, .growth')) {
      block.hidden = all('tbody tr, .skipped li', block).every((row) => row.hidden);
    }
    for (const block of all('.collectors')) {
      for (const table of all('table', block)) {
        table.hidden = all('tbody tr', table).every((row) => row.hidden);
      }
      block.hidden = all('table', block).every((table) => table.hidden);
    }
    for (const category of categories) {
      const own = inCategory(category.value);
      const ticked = own.filter((box) => box.checked).length;
      category.checked = ticked === own.length;
      category.indeterminate = ticked > 0 && ticked < own.length;
    }
    const without = unknown.length ? `; not in this report: ${unknown.join(', ')}` : '';
    by('shown').textContent = `${shown.size} of ${names.length} contenders${without}`;
  }

  function changed() {
    unknown = [];
    apply();
    const kept = fragment();
    if (kept !== (location.hash || '#')) history.replaceState(null, '', kept);
  }

  const tick = (some, on) => {
    for (const box of some) box.checked = on;
    changed();
  };
  for (const box of boxes) box.addEventListener('change', changed);
  for (const category of categories) {
    category.addEventListener('change', () => tick(inCategory(category.value), category.checked));
  }
  find.addEventListener('input', changed);
  against.addEventListener('change', changed);
  by('all').addEventListener('click', () => { find.value = ''; tick(boxes, true); });
  by('none').addEventListener('click', () => tick(boxes, false));
  by('filters').addEventListener('submit', (event) => event.preventDefault());
  // A link to a race scrolls and leaves the fragment to the filters.
  for (const link of all('a[href^="#race-"]')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      const race = by(link.getAttribute('href').slice(1));
      if (race instanceof HTMLDetailsElement) race.open = true;
      race.scrollIntoView();
    });
  }
  by('save').addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([by('data').textContent], { type: 'application/json' }));
    link.download = 'results.json';
    link.click();
  });
  // Who is clicked in a comparison of rates has 100 %.
  for (const row of all('table.rates tbody tr')) {
    row.addEventListener('click', () => {
      for (const other of all('tr', row.parentElement)) {
        other.lastElementChild.textContent = `${(100 * other.dataset.rate / row.dataset.rate).toFixed(1)}%`;
      }
    });
  }
  window.addEventListener('hashchange', () => { read(); apply(); });
  by('filters').hidden = false;
  by('save').hidden = false;
  read();
  apply();
})();

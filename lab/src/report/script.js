// Hides contenders everywhere in the page, and keeps which ones in the URL's fragment:
// #only=gossamer/single,go shows these two, #find=tokio those with that in their name.
'use strict';
(() => {
  const by = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const boxes = all('input.contender');
  const categories = all('input.category');
  const find = by('find');
  const names = boxes.map((box) => box.value);
  let unknown = [];

  const inCategory = (name) => boxes.filter((box) => box.closest('label').dataset.of === name);
  const isShown = (box) => box.checked && box.value.toLowerCase().includes(find.value.trim().toLowerCase());

  // Names as in a command line: only what would mean something else in the fragment is encoded.
  const encode = (text) => encodeURIComponent(text).replaceAll('%2F', '/');

  function fragment() {
    const parts = [];
    const ticked = boxes.filter((box) => box.checked).map((box) => encode(box.value));
    if (ticked.length < boxes.length) parts.push('only=' + ticked.join(','));
    if (find.value.trim()) parts.push('find=' + encode(find.value.trim()));
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

  function apply() {
    const shown = new Set(boxes.filter(isShown).map((box) => box.value));
    for (const element of all('[data-contender]')) {
      const off = names.includes(element.dataset.contender) && !shown.has(element.dataset.contender);
      if (element instanceof SVGElement) element.style.display = off ? 'none' : '';
      else element.hidden = off;
    }
    all('svg.bars').forEach(closeGaps);
    for (const block of all('.race, .growth')) {
      block.hidden = all('tbody tr', block).every((row) => row.hidden);
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
  window.addEventListener('hashchange', () => { read(); apply(); });
  by('filters').hidden = false;
  by('save').hidden = false;
  read();
  apply();
})();

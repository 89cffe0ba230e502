// Elements of the page. Text from robots only ever becomes text, never markup.
const dom = (() => {
  const LEFT = 4; // letters of a name that are always shown, and that it is worth to leave out
  const SVG = 'http://www.w3.org/2000/svg';

  const attributes = (node, given) => {
    for (const [name, value] of Object.entries(given || {})) {
      if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, '');
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, String(value));
    }
  };
  const element = (tag, given, ...children) => {
    const node = document.createElement(tag);
    attributes(node, given);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const icon = (path) => {
    const node = document.createElementNS(SVG, 'svg');
    attributes(node, { viewBox: '0 0 24 24', width: 20, height: 20, 'aria-hidden': 'true' });
    const line = document.createElementNS(SVG, 'path');
    attributes(line, { d: path, fill: 'currentColor' });
    node.append(line);
    return node;
  };
  const panel = (title, given, ...children) => element(
    'details', { class: 'panel', open: true, ...given },
    element('summary', {}, title), element('div', { class: 'inside' }, ...children),
  );
  const select = (label, values, chosen, act) => {
    const node = element('select', { 'aria-label': label, onchange: () => act(node.value) });
    for (const [value, text] of values) {
      node.append(element('option', { value, selected: String(value) === String(chosen) }, text));
    }
    return node;
  };
  const byId = (id) => document.getElementById(id);
  const number = (x, digits = 3) => {
    if (x === 0) return '0';
    const size = Math.abs(x);
    if (size >= 1e5 || size < 1e-3) return x.toExponential(Math.max(digits - 1, 0)).replace('e+', 'e').replace('-', '\u2212');
    const places = maths.clamp(digits - 1 - Math.floor(Math.log10(size)), 0, 6);
    return x.toFixed(places).replace('-', '\u2212');
  };

  // Names without the words that all of them begin with, where that is long.
  const shortened = (names) => {
    if (names.length < 2) return names;
    let shared = names[0].length;
    for (const name of names) {
      let k = 0;
      while (k < shared && name[k] === names[0][k]) k += 1;
      shared = k;
    }
    const longest = Math.min(...names.map((name) => name.length)) - LEFT;
    const ends = [...names[0].slice(0, shared).matchAll(/[_./-]/g)].map((found) => found.index + 1);
    const cut = Math.max(0, ...ends.filter((end) => end <= longest));
    return cut < LEFT ? names : names.map((name) => `\u2026${name.slice(cut)}`);
  };

  return { shortened, element, icon, panel, select, byId, number };
})();

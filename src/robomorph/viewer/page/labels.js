// Names in the scene, as elements over the picture; those that would cover each other move down.
const labels = (() => {
  const LINE = 15; // pixels
  const MOST = 6; // lines that a name moves before it is left where it is

  const placed = (view, wanted) => {
    const taken = [];
    const out = [];
    for (const { text, place, kind } of wanted) {
      const [x, y, front] = view.project(place);
      if (!front || x < 0 || y < 0 || x > view.width || y > view.height) continue;
      const wide = 7 * text.length + 8;
      let row = y;
      const covers = ([left, top, size]) => Math.abs(top - row) < LINE && left < x + wide && x < left + size;
      if (!kind) for (let k = 0; k < MOST && taken.some(covers); k += 1) row += LINE;
      taken.push([x, row, wide]);
      out.push({ text, kind, x, y: row });
    }
    return out;
  };

  const create = (box) => {
    const pool = [];
    const show = (view, wanted) => {
      const found = placed(view, wanted);
      while (pool.length < found.length) {
        pool.push(dom.element('span'));
        box.append(pool[pool.length - 1]);
      }
      pool.forEach((node, k) => {
        node.hidden = k >= found.length;
        if (node.hidden) return;
        const { text, kind, x, y } = found[k];
        if (node.textContent !== text) node.textContent = text;
        node.className = `label ${kind || ''}`;
        node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      });
    };
    return { show };
  };

  return { create };
})();

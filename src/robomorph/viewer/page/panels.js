// Layers and joints.
const panels = (() => {
  const LAYERS = [
    ['visual', 'shapes'], ['collision', 'collision shapes'], ['inertia', 'inertia ellipsoids'], ['frames', 'frames'],
    ['com', 'centre of mass'], ['manipulability', 'manipulability'], ['forces', 'forces'], ['names', 'names'],
  ];
  const FREE = { angle: Math.PI, length: 1, other: 1 }; // how far sliders go where there is no limit
  const UNITS = { angle: 'rad', length: 'm', other: '' };

  // In a file only what it has; a server computes what is asked for.
  const offered = (app, layer) => {
    if (app.live || layer === 'frames' || layer === 'names') return true;
    const driven = new Set(app.scene.trajectories.map((one) => one.robot));
    const still = app.scene.marks.filter((mark) => !driven.has(mark.robot));
    const marks = [still, ...app.scene.trajectories.flatMap((one) => one.marks || [])].flat();
    return marks.some((mark) => mark.layer === layer)
      || app.scene.robots.some((robot) => robot.shapes.some((shape) => shape.layer === layer));
  };
  const layers = (app) => {
    const boxes = LAYERS.filter(([layer]) => offered(app, layer)).map(([layer, text]) => {
      const box = dom.element('input', {
        type: 'checkbox', checked: app.layers[layer], 'data-layer': layer,
        onchange: () => app.setLayer(layer, box.checked),
      });
      return dom.element('label', { class: 'check' }, box, text);
    });
    return dom.panel('Layers', {}, dom.element('div', { class: 'checks' }, ...boxes));
  };

  const limitsOf = (coordinate) => {
    const free = FREE[coordinate.kind] || 1;
    const given = (x) => x !== null && x !== undefined && Number.isFinite(x);
    const lower = given(coordinate.lower) ? coordinate.lower : given(coordinate.upper) ? coordinate.upper - 2 * free : -free;
    const upper = given(coordinate.upper) ? coordinate.upper : lower + 2 * free;
    return { lower, upper, bounded: given(coordinate.lower) && given(coordinate.upper) };
  };

  // One row: name, slider and number; `show(value)` leaves alone what the user is holding.
  const joint = (coordinate, name, value, send) => {
    const { lower, upper, bounded } = limitsOf(coordinate);
    const unit = UNITS[coordinate.kind] || '';
    const label = `${coordinate.name}${unit ? `, ${unit}` : ''}`;
    const slider = dom.element('input', { type: 'range', min: lower, max: upper, step: 'any', 'aria-label': label });
    const number = dom.element('input', { type: 'number', step: 0.01, 'aria-label': `${label}, as a number` });
    if (bounded) { number.min = lower; number.max = upper; }
    const row = dom.element(
      'div', { class: 'joint', title: `${coordinate.name}: ${lower.toFixed(3)} to ${upper.toFixed(3)} ${unit}${bounded ? '' : ' (no limit)'}` },
      dom.element('span', { class: 'name' }, name), slider, number, dom.element('span', { class: 'unit' }, unit),
    );
    const near = 1e-3 * (upper - lower);
    const mark = (x) => row.classList.toggle('limit', bounded && (x < lower + near || x > upper - near));
    const show = (x) => {
      if (!slider.matches(':active')) slider.value = x;
      if (document.activeElement !== number) number.value = x.toFixed(4);
      mark(x);
    };
    slider.addEventListener('input', () => send(Number(slider.value)));
    number.addEventListener('change', () => {
      const x = Number(number.value);
      if (number.value !== '' && Number.isFinite(x)) send(bounded ? maths.clamp(x, lower, upper) : x);
    });
    show(value);
    return { row, show, index: coordinate.index };
  };

  const robot = (app, one, index) => {
    const movable = one.coordinates.filter((c) => c.slider !== false);
    const names = dom.shortened(movable.map((c) => c.name));
    const rows = movable.map((coordinate, k) => joint(
      coordinate, names[k], one.q[coordinate.index], (x) => {
        one.q[coordinate.index] = x;
        app.moveJoints(index);
      },
    ));
    const reset = dom.element('button', { type: 'button', onclick: () => app.reset() }, 'back to the start');
    const title = app.scene.robots.length > 1 ? `Joints of ${one.name}` : 'Joints';
    const node = dom.panel(title, { class: 'panel joints' }, ...rows.map(({ row }) => row), reset);
    return { node, show: () => rows.forEach((row) => row.show(one.q[row.index])) };
  };
  // Sliders of every robot; without a server there is nobody to say where links go.
  const joints = (app) => (app.live ? app.scene.robots.map((one, index) => robot(app, one, index)) : []);

  return { layers, joints };
})();

// Lines over time with their limits, in step with the time bar.
const plots = (() => {
  const HEIGHT = 190;
  const PAD = { left: 46, right: 10, top: 8, bottom: 34 };

  const scaled = (self, width) => {
    const { times } = self.motion;
    const [from, to] = [times[0], times[times.length - 1]];
    const shown = self.plot.lines.filter((_, k) => !self.hidden.has(k));
    const span = scales.range(shown.length ? shown : self.plot.lines);
    const inner = [width - PAD.left - PAD.right, HEIGHT - PAD.top - PAD.bottom];
    return {
      ...span, from, to, width,
      x: (t) => PAD.left + (inner[0] * (t - from)) / (to - from || 1),
      y: (v) => PAD.top + inner[1] * (1 - (v - span.low) / (span.high - span.low)),
      time: (px) => maths.clamp(from + ((px - PAD.left) / inner[0]) * (to - from), from, to),
    };
  };

  const drawAxes = (pen, to, unit) => {
    const bottom = HEIGHT - PAD.bottom;
    pen.font = '11px system-ui, sans-serif';
    pen.lineWidth = 1;
    pen.strokeStyle = theme.page('--line');
    pen.fillStyle = theme.page('--faint');
    const across = scales.ticks(to.from, to.to > to.from ? to.to : to.from + 1, to.width / 70);
    const upwards = scales.ticks(to.low, to.high, 5);
    pen.beginPath();
    pen.textAlign = 'right';
    for (const v of upwards.values) {
      const y = Math.round(to.y(v)) + 0.5;
      pen.moveTo(PAD.left, y);
      pen.lineTo(to.width - PAD.right, y);
      pen.fillText(upwards.text(v), PAD.left - 5, y + 4);
    }
    pen.textAlign = 'center';
    for (const t of across.values) {
      const x = Math.round(to.x(t)) + 0.5;
      pen.moveTo(x, bottom);
      pen.lineTo(x, bottom + 4);
      pen.fillText(across.text(t), x, bottom + 15);
    }
    pen.stroke();
    pen.fillText('time (s)', (PAD.left + to.width - PAD.right) / 2, HEIGHT - 4);
    pen.save();
    pen.translate(10, (PAD.top + bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(unit, 0, 0);
    pen.restore();
  };

  const stroke = (pen, found) => {
    pen.beginPath();
    found.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  };
  const drawLimits = (pen, to, line) => {
    pen.lineWidth = 1;
    pen.globalAlpha = 0.75;
    pen.setLineDash([4, 4]);
    for (const limit of [line.lower, line.upper]) {
      if (limit === null || limit === undefined || limit < to.low || limit > to.high) continue;
      stroke(pen, [[PAD.left, to.y(limit)], [to.width - PAD.right, to.y(limit)]]);
    }
    pen.globalAlpha = 1;
  };
  const drawLines = (self, pen, to) => {
    pen.save();
    pen.beginPath();
    pen.rect(PAD.left, 0, to.width - PAD.left - PAD.right + 1, HEIGHT - PAD.bottom + 1);
    pen.clip();
    pen.lineJoin = 'round';
    self.plot.lines.forEach((line, k) => {
      if (self.hidden.has(k)) return;
      const { colour, dash } = theme.line(k);
      pen.strokeStyle = colour;
      drawLimits(pen, to, line);
      pen.setLineDash(dash);
      pen.lineWidth = self.near === k ? 3 : 1.6;
      stroke(pen, scales.points(self.motion.times, line.values, to.x, to.y, to.width));
    });
    pen.restore();
  };

  // Axes and lines are kept as a picture, over which the cursor moves.
  const repaint = (self) => {
    const width = self.canvas.clientWidth;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    self.to = scaled(self, width);
    self.picture.width = Math.round(width * ratio);
    self.picture.height = Math.round(HEIGHT * ratio);
    const pen = self.picture.getContext('2d');
    pen.scale(ratio, ratio);
    drawAxes(pen, self.to, self.plot.unit);
    drawLines(self, pen, self.to);
    self.canvas.width = self.picture.width;
    self.canvas.height = self.picture.height;
    const { beyond } = self.to;
    self.note.textContent = beyond ? `${beyond} limit${beyond > 1 ? 's lie' : ' lies'} outside the picture` : '';
    show(self);
  };
  const show = (self) => {
    if (!self.to) return;
    const pen = self.canvas.getContext('2d');
    const ratio = window.devicePixelRatio || 1;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, self.canvas.width, self.canvas.height);
    pen.drawImage(self.picture, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const cursor = (t, colour, dash) => {
      pen.strokeStyle = theme.page(colour);
      pen.lineWidth = 1.5;
      pen.setLineDash(dash);
      stroke(pen, [[self.to.x(t), PAD.top], [self.to.x(t), HEIGHT - PAD.bottom]]);
    };
    if (self.over !== null) cursor(self.over, '--faint', [3, 3]);
    self.shown = maths.clamp(self.time(), self.to.from, self.to.to);
    cursor(self.shown, '--accent', []);
    readings(self);
  };
  const readings = (self) => {
    const t = self.over === null ? self.shown : self.over;
    self.values.forEach((node, k) => {
      node.textContent = dom.number(scales.valueAt(self.motion.times, self.plot.lines[k].values, t));
    });
    self.when.textContent = `at ${t.toFixed(3)} s`;
  };

  const nearest = (self, y) => {
    let best = [24, null];
    self.plot.lines.forEach((line, k) => {
      if (self.hidden.has(k)) return;
      const far = Math.abs(self.to.y(scales.valueAt(self.motion.times, line.values, self.over)) - y);
      if (far < best[0]) best = [far, k];
    });
    return best[1];
  };
  const hover = (self, event) => {
    if (!self.to) return;
    const box = self.canvas.getBoundingClientRect();
    self.over = self.to.time(event.clientX - box.left);
    if (event.buttons & 1) self.setTime(self.over);
    const near = nearest(self, event.clientY - box.top);
    self.keys.forEach((key, k) => key.classList.toggle('near', k === near));
    if (near !== self.near) { self.near = near; repaint(self); } else show(self);
  };
  const leave = (self) => {
    self.over = null;
    self.keys.forEach((key) => key.classList.remove('near'));
    if (self.near !== null) { self.near = null; repaint(self); } else show(self);
  };

  const legend = (self) => dom.shortened(self.plot.lines.map((line) => line.name)).map((name, k) => {
    const line = self.plot.lines[k];
    const { colour, dash } = theme.line(k);
    const swatch = dom.element('i', { class: dash.length ? 'swatch dashed' : 'swatch' });
    swatch.style.borderColor = colour;
    const value = dom.element('b');
    self.values.push(value);
    const key = dom.element('button', {
      type: 'button', class: 'key', 'aria-pressed': 'true', title: `${line.name}: show or hide`,
      onclick: () => {
        const off = !self.hidden.delete(k) && Boolean(self.hidden.add(k));
        key.setAttribute('aria-pressed', String(!off));
        repaint(self);
      },
    }, swatch, dom.element('span', {}, name), value);
    self.keys.push(key);
    return key;
  });

  const one = (plot, motion, time, setTime) => {
    const self = {
      plot, motion, time, setTime, hidden: new Set(), values: [], keys: [], over: null, near: null, to: null, shown: 0,
    };
    self.picture = document.createElement('canvas');
    self.canvas = dom.element('canvas', {
      class: 'plot', role: 'img', 'aria-label': `${plot.title} in ${plot.unit} over time in seconds`,
      onpointermove: (event) => hover(self, event),
      onpointerdown: (event) => { hover(self, event); setTime(self.over); self.canvas.setPointerCapture(event.pointerId); },
      onpointerleave: () => leave(self),
    });
    self.canvas.style.height = `${HEIGHT}px`;
    self.note = dom.element('p', { class: 'note' });
    self.when = dom.element('span', { class: 'when' });
    const keys = dom.element('div', { class: 'legend' }, ...legend(self));
    self.node = dom.panel(
      `${plot.title} (${plot.unit})`, { class: 'panel figure' }, self.canvas, dom.element('div', { class: 'under' }, self.when, self.note), keys,
    );
    self.show = () => show(self);
    self.repaint = () => repaint(self);
    new ResizeObserver(self.repaint).observe(self.canvas);
    return self;
  };

  const create = (box, motion, time, setTime) => {
    const made = motion ? motion.plots.map((plot) => one(plot, motion, time, setTime)) : [];
    box.replaceChildren(...made.map((self) => self.node));
    return made;
  };

  return { create };
})();

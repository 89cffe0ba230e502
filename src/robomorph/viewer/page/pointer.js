// Mouse, touch and keys on the scene: turn, move, zoom, and hold the handle.
const pointer = (() => {
  const SLOWEST = 350; // ms between two taps that are one double tap
  const position = (canvas, event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = ([a, b]) => ({
    centre: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], apart: Math.hypot(a[0] - b[0], a[1] - b[1]),
  });

  const pinch = (self, view) => {
    const now = spread([...self.down.values()]);
    if (self.spread) {
      view.pan(now.centre[0] - self.spread.centre[0], now.centre[1] - self.spread.centre[1]);
      if (now.apart > 0) view.zoom(self.spread.apart / now.apart);
    }
    self.spread = now;
  };

  const moved = (self, app, event) => {
    const at = position(app.canvas, event);
    const before = self.down.get(event.pointerId);
    if (!before) { if (event.pointerType !== 'touch') app.gizmo.hover(at); return; }
    self.down.set(event.pointerId, at);
    if (self.held) { app.gizmo.drag(at); return; }
    if (self.down.size === 2) pinch(self, app.camera);
    else if (self.panning) app.camera.pan(at[0] - before[0], at[1] - before[1]);
    else app.camera.orbit(at[0] - before[0], at[1] - before[1]);
    app.redraw();
  };
  const pressed = (self, app, event) => {
    const at = position(app.canvas, event);
    app.canvas.setPointerCapture(event.pointerId);
    app.canvas.classList.add('pointed'); // whoever points at the scene needs no frame around it
    app.canvas.focus({ preventScroll: true });
    app.stopFlight();
    self.down.set(event.pointerId, at);
    self.spread = self.down.size === 2 ? spread([...self.down.values()]) : null;
    self.panning = event.button === 2 || event.button === 1 || event.shiftKey;
    self.held = self.down.size === 1 && !self.panning && app.gizmo.grab(at, event.pointerType === 'touch');
    app.canvas.classList.toggle('grabbing', true);
  };
  const released = (self, app, event) => {
    self.down.delete(event.pointerId);
    self.spread = null;
    if (self.held) { app.gizmo.release(); self.held = false; }
    app.canvas.classList.toggle('grabbing', self.down.size > 0);
  };

  // Touch screens send no double click where touch actions are off.
  const tapped = (self, app, event) => {
    if (event.pointerType !== 'touch' || !event.isPrimary) return;
    const [now, at] = [performance.now(), position(app.canvas, event)];
    const near = self.tap && Math.hypot(at[0] - self.tap.at[0], at[1] - self.tap.at[1]) < 24;
    if (near && now - self.tap.now < SLOWEST) { app.flyToRobot(); self.tap = null; } else self.tap = { now, at };
  };

  const KEYS = {
    ArrowLeft: (v, shift) => (shift ? v.pan(30, 0) : v.orbit(25, 0)),
    ArrowRight: (v, shift) => (shift ? v.pan(-30, 0) : v.orbit(-25, 0)),
    ArrowUp: (v, shift) => (shift ? v.pan(0, 30) : v.orbit(0, 25)),
    ArrowDown: (v, shift) => (shift ? v.pan(0, -30) : v.orbit(0, -25)),
    '+': (v) => v.zoom(0.85),
    '=': (v) => v.zoom(0.85),
    '-': (v) => v.zoom(1 / 0.85),
    1: (v) => { v.yaw = 0; v.pitch = 0; },
    2: (v) => { v.yaw = -Math.PI / 2; v.pitch = 0; },
    3: (v) => { v.yaw = -Math.PI / 2; v.pitch = 1.56; },
  };
  const keyed = (app, event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'f') { app.flyToRobot(); event.preventDefault(); return; }
    const act = KEYS[event.key];
    if (!act) return;
    act(app.camera, event.shiftKey);
    event.preventDefault();
    app.redraw();
  };

  const attach = (app) => {
    const self = { down: new Map(), spread: null, panning: false, held: false, tap: null };
    const { canvas } = app;
    canvas.addEventListener('pointerdown', (event) => pressed(self, app, event));
    canvas.addEventListener('pointermove', (event) => moved(self, app, event));
    canvas.addEventListener('pointerup', (event) => { tapped(self, app, event); released(self, app, event); });
    canvas.addEventListener('pointercancel', (event) => released(self, app, event));
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('dblclick', () => app.flyToRobot());
    canvas.addEventListener('keydown', (event) => keyed(app, event));
    canvas.addEventListener('blur', () => canvas.classList.remove('pointed'));
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      app.camera.zoom(Math.exp(maths.clamp(event.deltaY * lines, -300, 300) * (event.ctrlKey ? 0.01 : 0.0015)));
      app.redraw();
    }, { passive: false });
  };

  return { attach };
})();

// The handle in the scene: three arrows that move, three rings that turn, a ball that moves in the view's plane.
const gizmo = (() => {
  const ARM = 92; // pixels
  const RING = 66;
  const REACH = 9; // pixels beside a part at which it is still meant
  const NAMES = ['x', 'y', 'z'];
  const HOT = [0.96, 0.78, 0.1, 1];

  const segmentDistance = (p, a, b) => {
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const n = dx * dx + dy * dy;
    const t = n > 0 ? maths.clamp(((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / n, 0, 1) : 0;
    return Math.hypot(p[0] - a[0] - t * dx, p[1] - a[1] - t * dy);
  };
  const planeHit = (ray, centre, normal) => {
    const facing = maths.dot(ray.direction, normal);
    if (Math.abs(facing) < 1e-3) return null;
    const t = maths.dot(maths.sub(centre, ray.origin), normal) / facing;
    return t > 0 ? maths.add(ray.origin, maths.scale(ray.direction, t)) : null;
  };
  // Where on a line through `centre` a ray comes nearest.
  const alongLine = (ray, centre, axis) => {
    const between = maths.sub(centre, ray.origin);
    const b = maths.dot(axis, ray.direction);
    const d = 1 - b * b;
    if (d < 1e-4) return null;
    return (b * maths.dot(ray.direction, between) - maths.dot(axis, between)) / d;
  };
  const sideways = (axis) => {
    const other = Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
    const u = maths.unit(maths.cross(axis, other));
    return [u, maths.cross(axis, u)];
  };
  const circle = (centre, axis, radius) => {
    const [u, v] = sideways(axis);
    return Array.from({ length: 49 }, (_, k) => {
      const angle = (2 * Math.PI * k) / 48;
      const step = maths.add(maths.scale(u, radius * Math.cos(angle)), maths.scale(v, radius * Math.sin(angle)));
      return maths.add(centre, step);
    });
  };

  const axesOf = (hold) => [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(
    (axis) => (hold.ownAxes ? maths.rotate(hold.pose.slice(3), axis) : axis),
  );

  // The part under a pixel: 'ball', 'move0'..'move2', 'turn0'..'turn2' or null.
  const picked = (hold, view, at, touch) => {
    const centre = hold.pose.slice(0, 3);
    const size = view.pixelAt(centre);
    const [x, y, front] = view.project(centre);
    const reach = touch ? 2 * REACH : REACH;
    if (!front) return null;
    if (Math.hypot(at[0] - x, at[1] - y) < reach + 3) return 'ball';
    let best = [reach, null];
    axesOf(hold).forEach((axis, k) => {
      const tip = view.project(maths.add(centre, maths.scale(axis, ARM * size)));
      const far = segmentDistance(at, [x, y], tip);
      if (far < best[0]) best = [far, `move${k}`];
      if (!hold.turns) return;
      const points = circle(centre, axis, RING * size).map(view.project);
      for (let i = 0; i + 1 < points.length; i += 1) {
        const distance = segmentDistance(at, points[i], points[i + 1]);
        if (distance < best[0] - 0.5) best = [distance, `turn${k}`];
      }
    });
    return best[1];
  };

  const angleOn = (ray, centre, axis) => {
    const hit = planeHit(ray, centre, axis);
    if (!hit) return null;
    const [u, v] = sideways(axis);
    const out = maths.sub(hit, centre);
    return Math.atan2(maths.dot(out, v), maths.dot(out, u));
  };
  const started = (hold, part, view, at) => {
    const start = { part, pose: hold.pose.slice(), axes: axesOf(hold) };
    const ray = view.ray(...at);
    const centre = start.pose.slice(0, 3);
    if (part === 'ball') start.hit = planeHit(ray, centre, view.basis().forward);
    const axis = start.axes[Number(part.slice(-1))];
    if (part.startsWith('move')) start.along = alongLine(ray, centre, axis);
    if (part.startsWith('turn')) start.angle = angleOn(ray, centre, axis);
    return start;
  };
  // The pose after a part was pulled to a pixel, from where it was when it was grabbed.
  const pulled = (start, view, at) => {
    const ray = view.ray(...at);
    const centre = start.pose.slice(0, 3);
    const turn = start.pose.slice(3);
    if (start.part === 'ball') {
      const hit = planeHit(ray, centre, view.basis().forward);
      return hit && start.hit ? [...maths.add(centre, maths.sub(hit, start.hit)), ...turn] : null;
    }
    const axis = start.axes[Number(start.part.slice(-1))];
    if (start.part.startsWith('move')) {
      const along = alongLine(ray, centre, axis);
      if (along === null || start.along === null) return null;
      return [...maths.add(centre, maths.scale(axis, along - start.along)), ...turn];
    }
    const angle = angleOn(ray, centre, axis);
    if (angle === null || start.angle === null) return null;
    return [...centre, ...maths.quaternionProduct(maths.turnedBy(axis, angle - start.angle), turn)];
  };

  const draw = (hold, view, lists, hot) => {
    const centre = hold.pose.slice(0, 3);
    const size = view.pixelAt(centre);
    const paint = (part, k) => (part === hot ? HOT : [...theme.AXES[k], 1]);
    axesOf(hold).forEach((axis, k) => {
      instances.arrow(lists, centre, maths.scale(axis, ARM * size), 2.1 * size, paint(`move${k}`, k));
      if (hold.turns) {
        instances.ring(lists, [...centre, ...maths.fromZ(axis)], RING * size, paint(`turn${k}`, k));
      }
    });
    instances.ball(lists, centre, 8 * size, hot === 'ball' ? HOT : [0.93, 0.93, 0.93, 1]);
  };
  const labels = (hold, view) => {
    const far = (ARM + 12) * view.pixelAt(hold.pose);
    return axesOf(hold).map((axis, k) => ({
      text: NAMES[k], place: maths.add(hold.pose, maths.scale(axis, far)), kind: `axis axis${k}`,
    }));
  };

  // `app.hold()` is {pose, turns, ownAxes} or null; `app.pulled(pose, done)` hears of every move.
  const create = (app) => {
    const self = { hot: null, start: null };
    self.hover = (at) => {
      const hold = app.hold();
      const part = hold ? picked(hold, app.camera, at, false) : null;
      if (part === self.hot) return;
      self.hot = part;
      app.canvas.classList.toggle('over', part !== null);
      app.redraw();
    };
    self.grab = (at, touch) => {
      const hold = app.hold();
      const part = hold ? picked(hold, app.camera, at, touch) : null;
      if (!part) return false;
      self.hot = part;
      self.start = started(hold, part, app.camera, at);
      return true;
    };
    self.drag = (at) => {
      const pose = pulled(self.start, app.camera, at);
      if (pose) app.pulled(pose, false);
    };
    self.release = () => { self.start = null; app.pulled(null, true); };
    self.draw = (lists) => {
      const hold = app.hold();
      if (hold) draw(hold, app.camera, lists, self.hot);
    };
    self.labels = () => {
      const hold = app.hold();
      return hold ? labels(hold, app.camera) : [];
    };
    return self;
  };

  return { create };
})();

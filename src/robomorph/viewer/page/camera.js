// A camera that looks at a target from a distance, with z upwards. Pixels are CSS pixels of the canvas.
const camera = (() => {
  const FIELD = (32 * Math.PI) / 180;
  const FILLED = 0.8; // of the picture by what it is fitted to
  const STEEPEST = Math.PI / 2 - 0.01;

  const basis = (self) => {
    const [cy, sy] = [Math.cos(self.yaw), Math.sin(self.yaw)];
    const [cp, sp] = [Math.cos(self.pitch), Math.sin(self.pitch)];
    const forward = [-cp * cy, -cp * sy, -sp];
    const right = [-sy, cy, 0];
    return { forward, right, up: maths.cross(right, forward) };
  };
  const metresPerPixel = (self) => (2 * self.distance * Math.tan(FIELD / 2)) / self.height;

  // The nearest place from which all corners of a box are seen, with a margin.
  const fitted = (self, { low, high, centre, radius }) => {
    const { forward, right, up } = basis(self);
    const tall = Math.tan(FIELD / 2) * FILLED;
    const wide = tall * (self.width / self.height);
    let distance = 0.5 * radius;
    for (let k = 0; k < 8; k += 1) {
      const corner = maths.sub([k & 1 ? high : low, k & 2 ? high : low, k & 4 ? high : low].map((p, i) => p[i]), centre);
      const need = Math.max(Math.abs(maths.dot(corner, right)) / wide, Math.abs(maths.dot(corner, up)) / tall);
      distance = Math.max(distance, need - maths.dot(corner, forward));
    }
    return { target: centre.slice(), distance };
  };

  const looking = (self) => ({
    basis: () => basis(self),
    eye: () => maths.sub(self.target, maths.scale(basis(self).forward, self.distance)),
    matrix: () => {
      const { forward, right, up } = basis(self);
      const far = 4 * self.distance + 20 * self.radius;
      const lens = maths.perspective(FIELD, self.width / self.height, self.distance / 100, far);
      return maths.multiply(lens, maths.lookAlong(self.eye(), right, up, forward));
    },
    // [x, y, in front of the camera]
    project: (place) => {
      const [x, y, , w] = maths.transform(self.matrix(), place);
      return [(0.5 + (0.5 * x) / w) * self.width, (0.5 - (0.5 * y) / w) * self.height, w > 0];
    },
    ray: (x, y) => {
      const { forward, right, up } = basis(self);
      const tall = Math.tan(FIELD / 2);
      const u = ((2 * x) / self.width - 1) * tall * (self.width / self.height);
      const v = (1 - (2 * y) / self.height) * tall;
      const direction = maths.add(forward, maths.add(maths.scale(right, u), maths.scale(up, v)));
      return { origin: self.eye(), direction: maths.unit(direction) };
    },
    // How large a pixel is in metres at a place.
    pixelAt: (place) => {
      const depth = maths.dot(maths.sub(place, self.eye()), basis(self).forward);
      return (metresPerPixel(self) * Math.max(depth, 0.01 * self.distance)) / self.distance;
    },
  });

  const moving = (self) => ({
    orbit: (dx, dy) => {
      self.yaw -= dx * 0.008;
      self.pitch = maths.clamp(self.pitch + dy * 0.008, -STEEPEST, STEEPEST);
    },
    pan: (dx, dy) => {
      const { right, up } = basis(self);
      const size = metresPerPixel(self);
      const step = maths.add(maths.scale(right, -dx * size), maths.scale(up, dy * size));
      self.target = maths.add(self.target, step);
    },
    zoom: (factor) => {
      self.distance = maths.clamp(self.distance * factor, 0.02 * self.radius, 60 * self.radius);
    },
    fitted: (bounds) => fitted(self, bounds),
    fit: (bounds) => {
      self.radius = bounds.radius;
      Object.assign(self, fitted(self, bounds));
    },
  });

  const create = () => {
    const self = { target: [0, 0, 0], yaw: 0.75, pitch: 0.32, distance: 3, width: 1, height: 1, radius: 1 };
    return Object.assign(self, looking(self), moving(self));
  };

  return { create };
})();

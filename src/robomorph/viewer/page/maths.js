// Vectors are arrays of three, quaternions [x y z w], poses [x y z qx qy qz qw], matrices 16 numbers by columns.
const maths = (() => {
  const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [
    a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
  ];
  const length = (a) => Math.hypot(a[0], a[1], a[2]);
  const unit = (a) => {
    const n = length(a);
    return n > 0 ? scale(a, 1 / n) : [0, 0, 1];
  };
  const mix = (a, b, t) => a.map((x, i) => x + (b[i] - x) * t);
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

  const turnedBy = (axis, angle) => {
    const s = Math.sin(angle / 2);
    return [axis[0] * s, axis[1] * s, axis[2] * s, Math.cos(angle / 2)];
  };
  const quaternionProduct = (a, b) => [
    a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
    a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
    a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
    a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
  ];
  const rotate = (q, v) => {
    const t = scale(cross(q, v), 2);
    return add(add(v, scale(t, q[3])), cross(q, t));
  };
  // The shortest turn that takes the z axis to a direction.
  const fromZ = (direction) => {
    const d = unit(direction);
    if (d[2] < -0.999999) return [1, 0, 0, 0];
    const q = [-d[1], d[0], 0, 1 + d[2]];
    const n = Math.hypot(...q);
    return q.map((x) => x / n);
  };
  const posed = (pose, place) => {
    const q = pose.slice(3, 7);
    const p = add(pose, rotate(q, place));
    return [...p, ...quaternionProduct(q, place.slice(3, 7))];
  };

  // The pose matrix with its columns scaled, `at` saying where in an array the pose begins.
  const poseMatrix = (pose, at = 0, size = [1, 1, 1]) => {
    const [x, y, z, w] = [pose[at + 3], pose[at + 4], pose[at + 5], pose[at + 6]];
    const [a, b, c] = size;
    return [
      (1 - 2 * (y * y + z * z)) * a, 2 * (x * y + w * z) * a, 2 * (x * z - w * y) * a, 0,
      2 * (x * y - w * z) * b, (1 - 2 * (x * x + z * z)) * b, 2 * (y * z + w * x) * b, 0,
      2 * (x * z + w * y) * c, 2 * (y * z - w * x) * c, (1 - 2 * (x * x + y * y)) * c, 0,
      pose[at], pose[at + 1], pose[at + 2], 1,
    ];
  };
  const multiply = (a, b) => {
    const out = new Array(16);
    for (let c = 0; c < 16; c += 4) {
      for (let r = 0; r < 4; r += 1) {
        out[c + r] = a[r] * b[c] + a[r + 4] * b[c + 1] + a[r + 8] * b[c + 2] + a[r + 12] * b[c + 3];
      }
    }
    return out;
  };
  const transform = (m, p) => [0, 1, 2, 3].map((r) => m[r] * p[0] + m[r + 4] * p[1] + m[r + 8] * p[2] + m[r + 12]);
  const perspective = (fov, aspect, near, far) => {
    const f = 1 / Math.tan(fov / 2);
    const d = 1 / (near - far);
    return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) * d, -1, 0, 0, 2 * near * far * d, 0];
  };
  const orthographic = (half, near, far) => {
    const d = 1 / (near - far);
    return [1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 * d, 0, 0, 0, (near + far) * d, 1];
  };
  const lookAlong = (eye, right, up, forward) => [
    right[0], up[0], -forward[0], 0, right[1], up[1], -forward[1], 0, right[2], up[2], -forward[2], 0,
    -dot(right, eye), -dot(up, eye), dot(forward, eye), 1,
  ];

  return {
    add, sub, scale, dot, cross, length, unit, mix, clamp, turnedBy, quaternionProduct, rotate, fromZ, posed,
    poseMatrix, multiply, transform, perspective, orthographic, lookAlong,
  };
})();

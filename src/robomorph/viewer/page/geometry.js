// Triangles of the unit shapes: {vertices, normals}, three corners a triangle, nine numbers each.
const geometry = (() => {
  const AROUND = 40;
  const CREASE = Math.cos((35 * Math.PI) / 180);

  const builder = () => {
    const vertices = [];
    const normals = [];
    const corner = ([p, n]) => { vertices.push(...p); normals.push(...n); };
    return {
      triangle: (a, b, c) => [a, b, c].forEach(corner),
      quad: (a, b, c, d) => [a, b, c, a, c, d].forEach(corner),
      done: () => ({ vertices: new Float32Array(vertices), normals: new Float32Array(normals) }),
    };
  };

  const box = () => {
    const made = builder();
    for (let axis = 0; axis < 3; axis += 1) {
      for (const side of [-1, 1]) {
        const at = (u, v) => {
          const p = [0, 0, 0];
          p[axis] = side / 2; p[(axis + 1) % 3] = (u * side) / 2; p[(axis + 2) % 3] = v / 2;
          return p;
        };
        const n = [0, 0, 0];
        n[axis] = side;
        made.quad([at(-1, -1), n], [at(1, -1), n], [at(1, 1), n], [at(-1, 1), n]);
      }
    }
    return made.done();
  };

  // A surface of revolution: profile points [r, z, normal r, normal z] from the bottom upwards.
  const lathe = (profile, around = AROUND) => {
    const made = builder();
    const at = ([r, z, nr, nz], k) => {
      const angle = (2 * Math.PI * (k % around)) / around;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      return [[r * c, r * s, z], [nr * c, nr * s, nz]];
    };
    for (let i = 0; i + 1 < profile.length; i += 1) {
      const [low, high] = [profile[i], profile[i + 1]];
      for (let k = 0; k < around; k += 1) {
        if (high[0] > 0) made.triangle(at(low, k), at(high, k + 1), at(high, k));
        if (low[0] > 0) made.triangle(at(low, k), at(low, k + 1), at(high, k + 1));
      }
    }
    return made.done();
  };
  const arc = (from, to, steps) => Array.from({ length: steps + 1 }, (_, k) => {
    const angle = from + ((to - from) * k) / steps;
    const [r, z] = [Math.cos(angle), Math.sin(angle)];
    return [Math.abs(r) < 1e-9 ? 0 : r, z, r, z];
  });
  const joined = (...parts) => {
    const join = (key) => {
      const out = new Float32Array(parts.reduce((n, part) => n + part[key].length, 0));
      let at = 0;
      for (const part of parts) { out.set(part[key], at); at += part[key].length; }
      return out;
    };
    return { vertices: join('vertices'), normals: join('normals') };
  };
  const disc = (z, n) => lathe(n > 0 ? [[1, z, 0, n], [0, z, 0, n]] : [[0, z, 0, n], [1, z, 0, n]]);
  const tube = () => lathe([[1, -0.5, 1, 0], [1, 0.5, 1, 0]]);
  const ring = (thickness) => {
    const profile = Array.from({ length: 11 }, (_, k) => {
      const angle = (2 * Math.PI * k) / 10;
      return [1 + thickness * Math.cos(angle), thickness * Math.sin(angle), Math.cos(angle), Math.sin(angle)];
    });
    return lathe(profile, 72);
  };

  const SHAPES = {
    box,
    sphere: () => lathe(arc(-Math.PI / 2, Math.PI / 2, 24)),
    dome: () => lathe(arc(0, Math.PI / 2, 12)),
    tube,
    cylinder: () => joined(tube(), disc(0.5, 1), disc(-0.5, -1)),
    cone: () => joined(lathe([[1, 0, 0.9, 0.45], [0, 1, 0.9, 0.45]]), disc(0, -1)),
    ring: () => ring(0.02),
  };

  const faceNormals = (vertices, faces) => {
    const out = new Float32Array(faces.length);
    for (let f = 0; f < faces.length; f += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => Array.from(vertices.subarray(3 * faces[f + k], 3 * faces[f + k] + 3)));
      out.set(maths.unit(maths.cross(maths.sub(b, a), maths.sub(c, a))), f);
    }
    return out;
  };
  // Which corners lie at the same point, though files such as STL give every triangle points of its own.
  const cornersByPoint = (vertices, faces) => {
    const numbers = new Map();
    const groups = [];
    const own = new Int32Array(faces.length);
    for (let corner = 0; corner < faces.length; corner += 1) {
      const v = 3 * faces[corner];
      const key = `${vertices[v]},${vertices[v + 1]},${vertices[v + 2]}`;
      let group = numbers.get(key);
      if (group === undefined) { group = groups.length; numbers.set(key, group); groups.push([]); }
      groups[group].push(corner);
      own[corner] = group;
    }
    return { groups, own };
  };

  // A mesh with smooth normals, broken where faces meet at more than the crease's angle.
  const mesh = (vertices, faces) => {
    const flat = faceNormals(vertices, faces);
    const { groups, own } = cornersByPoint(vertices, faces);
    const out = { vertices: new Float32Array(3 * faces.length), normals: new Float32Array(3 * faces.length) };
    for (let corner = 0; corner < faces.length; corner += 1) {
      const at = 3 * Math.floor(corner / 3);
      let [x, y, z] = [0, 0, 0];
      for (const other of groups[own[corner]]) {
        const o = 3 * Math.floor(other / 3);
        if (flat[at] * flat[o] + flat[at + 1] * flat[o + 1] + flat[at + 2] * flat[o + 2] > CREASE) {
          x += flat[o]; y += flat[o + 1]; z += flat[o + 2];
        }
      }
      out.normals.set(maths.unit([x, y, z]), 3 * corner);
      const v = 3 * faces[corner];
      out.vertices.set(vertices.subarray(v, v + 3), 3 * corner);
    }
    return out;
  };

  return { SHAPES, mesh };
})();

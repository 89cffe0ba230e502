// Reads a scene document into what is drawn: robots with poses as numbers, meshes, trajectories.
const documents = (() => {
  const bytes = (text) => {
    const letters = atob(text);
    const out = new Uint8Array(letters.length);
    for (let k = 0; k < letters.length; k += 1) out[k] = letters.charCodeAt(k);
    return out.buffer;
  };
  const floats = (given) => (typeof given === 'string' ? new Float32Array(bytes(given)) : Float64Array.from(given));

  // The box around a mesh: its middle and half its size.
  const extent = (corners) => {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    corners.forEach((x, k) => {
      low[k % 3] = Math.min(low[k % 3], x);
      high[k % 3] = Math.max(high[k % 3], x);
    });
    return { middle: maths.mix(low, high, 0.5), half: maths.scale(maths.sub(high, low), 0.5) };
  };
  const meshes = (given) => {
    const out = new Map();
    for (const [name, { vertices, faces }] of Object.entries(given || {})) {
      const corners = new Float32Array(bytes(vertices));
      const made = extent(corners);
      // Normals are found when the mesh is drawn for the first time.
      made.triangles = () => {
        made.kept = made.kept || geometry.mesh(corners, new Uint32Array(bytes(faces)));
        return made.kept;
      };
      out.set(`mesh:${name}`, made);
    }
    return out;
  };

  const HALVES = {
    box: (s) => maths.scale(s, 0.5),
    sphere: ([r]) => [r, r, r],
    cylinder: ([r, l]) => [r, r, l / 2],
    capsule: ([r, l]) => [r, r, r + l / 2],
    ellipsoid: (s) => s.slice(),
  };
  const shape = (given, known) => {
    const place = [...given.position, ...given.quaternion];
    const own = { ...given, place, layer: given.layer || 'visual' };
    if (given.kind === 'mesh') {
      own.mesh = `mesh:${given.mesh}`;
      const { middle, half } = known.get(own.mesh);
      own.middle = middle.map((x, k) => x * given.size[k]);
      own.half = half.map((x, k) => x * Math.abs(given.size[k]));
    } else {
      Object.assign(own, { middle: [0, 0, 0], half: HALVES[given.kind](given.size) });
    }
    return own;
  };

  const robot = (given, known) => ({
    ...given,
    poses: Float64Array.from(given.poses.flat()),
    q: (given.q || []).slice(),
    coordinates: given.coordinates || [],
    frames: given.frames || [],
    tools: given.tools || [],
    shapes: given.shapes.map((one) => shape(one, known)),
  });

  const trajectory = (given) => {
    const times = floats(given.times);
    const plots = (given.plots || []).map((plot) => ({
      ...plot, lines: plot.lines.map((line) => ({ ...line, values: floats(line.values) })),
    }));
    return { ...given, times, poses: floats(given.poses), plots };
  };

  const scene = (given) => {
    const known = meshes(given.meshes);
    return {
      title: given.title,
      robots: given.robots.map((one) => robot(one, known)),
      meshes: known,
      marks: given.marks || [],
      trajectories: (given.trajectories || []).map(trajectory),
    };
  };

  // The last index whose time is not after t.
  const indexAt = (times, t) => {
    let [low, high] = [0, times.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  // Poses at a time, between two samples on the straight line and on the shorter turn.
  const posesAt = (motion, t, out) => {
    const n = out.length;
    const k = indexAt(motion.times, t);
    const last = Math.min(k + 1, motion.times.length - 1);
    const span = motion.times[last] - motion.times[k];
    const f = span > 0 ? maths.clamp((t - motion.times[k]) / span, 0, 1) : 0;
    const [a, b] = [motion.poses.subarray(k * n, (k + 1) * n), motion.poses.subarray(last * n, (last + 1) * n)];
    for (let i = 0; i < n; i += 7) {
      const same = a[i + 3] * b[i + 3] + a[i + 4] * b[i + 4] + a[i + 5] * b[i + 5] + a[i + 6] * b[i + 6];
      const sign = same < 0 ? -1 : 1;
      for (let j = 0; j < 7; j += 1) out[i + j] = a[i + j] * (1 - f) + b[i + j] * f * (j < 3 ? 1 : sign);
      const norm = Math.hypot(out[i + 3], out[i + 4], out[i + 5], out[i + 6]);
      for (let j = 3; j < 7; j += 1) out[i + j] /= norm;
    }
  };

  return { scene, trajectory, indexAt, posesAt };
})();

// What is to be drawn, as numbers: lists of matrices and colours by the shape they belong to.
const instances = (() => {
  const put = (lists, name, m, colour) => {
    let list = lists.get(name);
    if (!list) { list = []; lists.set(name, list); }
    list.push(m[0], m[4], m[8], m[12], m[1], m[5], m[9], m[13], m[2], m[6], m[10], m[14], ...colour);
  };

  // A shape's parts: the name of a unit shape, where its centre is on the z axis, and its size.
  const PARTS = {
    box: (s) => [['box', 0, s]],
    sphere: ([r]) => [['sphere', 0, [r, r, r]]],
    ellipsoid: (s) => [['sphere', 0, s]],
    cylinder: ([r, l]) => [['cylinder', 0, [r, r, l]]],
    capsule: ([r, l]) => [
      ['tube', 0, [r, r, l]], ['dome', l / 2, [r, r, r]], ['dome', -l / 2, [r, -r, -r]],
    ],
  };
  const parts = (shape) => (shape.kind === 'mesh' ? [[shape.mesh, 0, shape.size]] : PARTS[shape.kind](shape.size));

  const addShape = (lists, shape, linkPose, colour) => {
    const pose = maths.posed(linkPose, shape.place);
    for (const [name, z, size] of parts(shape)) {
      const place = z ? [...maths.add(pose, maths.rotate(pose.slice(3), [0, 0, z])), ...pose.slice(3)] : pose;
      put(lists, name, maths.poseMatrix(place, 0, size), colour);
    }
  };

  const rod = (lists, from, to, radius, colour) => {
    const along = maths.sub(to, from);
    const pose = [...maths.mix(from, to, 0.5), ...maths.fromZ(along)];
    put(lists, 'cylinder', maths.poseMatrix(pose, 0, [radius, radius, maths.length(along)]), colour);
  };
  const ball = (lists, centre, radius, colour) => {
    put(lists, 'sphere', maths.poseMatrix([...centre, 0, 0, 0, 1], 0, [radius, radius, radius]), colour);
  };
  const arrow = (lists, from, vector, radius, colour) => {
    const long = maths.length(vector);
    if (!(long > 0)) return;
    const head = Math.min(5 * radius, 0.5 * long);
    const neck = maths.add(from, maths.scale(vector, (long - head) / long));
    rod(lists, from, neck, radius, colour);
    const cone = maths.poseMatrix([...neck, ...maths.fromZ(vector)], 0, [2.4 * radius, 2.4 * radius, head]);
    put(lists, 'cone', cone, colour);
  };
  const axes = (lists, pose, long, alpha = 1) => {
    const origin = pose.slice(0, 3);
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, k) => {
      const tip = maths.add(origin, maths.scale(maths.rotate(pose.slice(3), axis), long));
      rod(lists, origin, tip, 0.035 * long, [...theme.AXES[k], alpha]);
    });
  };
  const ring = (lists, pose, radius, colour) => {
    put(lists, 'ring', maths.poseMatrix(pose, 0, [radius, radius, radius]), colour);
  };

  const MARKS = {
    point: (lists, mark, colour, scale) => ball(lists, mark.position, (mark.size || [0.025 * scale])[0], colour),
    arrow: (lists, mark, colour, scale) => {
      const radius = Math.min(0.012 * scale, 0.08 * maths.length(mark.vector));
      arrow(lists, mark.position, mark.vector, radius, colour);
    },
    axes: (lists, mark, colour, scale) => {
      axes(lists, [...mark.position, ...mark.quaternion], (mark.size || [0.1 * scale])[0], colour[3]);
    },
    ellipsoid: (lists, mark, colour) => {
      const pose = [...mark.position, ...(mark.quaternion || [0, 0, 0, 1])];
      put(lists, 'sphere', maths.poseMatrix(pose, 0, mark.size), colour);
    },
  };
  const addMark = (frame, mark, scale) => {
    const colour = mark.colour || theme.LAYERS[mark.layer] || [0.5, 0.5, 0.5, 1];
    MARKS[mark.kind](colour[3] < 1 ? frame.translucent : frame.solid, mark, colour, scale);
  };

  const poseOf = (poses, link) => Array.from(poses.subarray(7 * link, 7 * link + 7));

  const addRobot = (frame, robot, layers, scale) => {
    for (const shape of robot.shapes) {
      if (!layers[shape.layer]) continue;
      const given = shape.colour || theme.LAYERS[shape.layer] || [0.7, 0.7, 0.72, 1];
      const colour = robot.ghost ? [...maths.mix(given.slice(0, 3), theme.GHOST, 0.6), 0.42 * given[3]] : given;
      const lists = colour[3] < 0.999 ? frame.translucent : frame.solid;
      addShape(lists, shape, poseOf(robot.poses, shape.link), colour);
    }
    if (!layers.frames || robot.ghost) return;
    for (let link = 0; link < robot.links.length; link += 1) {
      axes(frame.top, poseOf(robot.poses, link), 0.1 * scale);
    }
    for (const tool of robot.tools) {
      axes(frame.top, framePose(robot, tool.name), 0.1 * scale);
    }
  };

  // The pose of a link or of a tool frame fixed to one; null if the robot has none of that name.
  const framePose = (robot, name) => {
    const link = robot.links.indexOf(name);
    if (link >= 0) return poseOf(robot.poses, link);
    const tool = robot.tools.find((one) => one.name === name);
    return tool ? maths.posed(poseOf(robot.poses, tool.link), [...tool.position, ...tool.quaternion]) : null;
  };

  // The box around the shapes that are seen, and the ball around it.
  const bounds = (robots) => {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    const grow = (p, half) => [0, 1, 2].forEach((k) => {
      low[k] = Math.min(low[k], p[k] - half[k]);
      high[k] = Math.max(high[k], p[k] + half[k]);
    });
    for (const robot of robots) {
      robot.links.forEach((_, link) => grow(poseOf(robot.poses, link), [0, 0, 0]));
      for (const shape of robot.shapes.filter(({ layer }) => layer === 'visual')) {
        const m = maths.poseMatrix(maths.posed(poseOf(robot.poses, shape.link), shape.place));
        const half = [0, 1, 2].map((r) => [0, 1, 2].reduce((sum, c) => sum + Math.abs(m[4 * c + r]) * shape.half[c], 0));
        grow(maths.transform(m, shape.middle), half);
      }
    }
    if (low[0] > high[0]) [0, 1, 2].forEach((k) => { low[k] = k < 2 ? -0.5 : 0; high[k] = k < 2 ? 0.5 : 1; });
    const radius = Math.max(0.5 * maths.length(maths.sub(high, low)), 0.05);
    return { low, high, centre: maths.mix(low, high, 0.5), radius };
  };

  return { addRobot, addMark, framePose, bounds, arrow, axes, ball, ring, rod };
})();

// The state of the page and the one place that draws. Nothing is drawn unless something changed.
const app = (() => {
  const DEFAULTS = {
    visual: true, collision: false, inertia: false, frames: false, com: false, manipulability: false, forces: true, names: false,
  };
  const FLIGHT = 300; // ms
  const SLOW = 90; // ms from the wish for a picture to the picture, several times
  const REST = 350; // ms until pictures are fine again
  const COARSE = 0.5; // of the pixels along each side

  const linkLabels = (self) => (self.layers.names ? self.scene.robots.flatMap((robot) => (
    robot.ghost ? [] : robot.links.map((text, link) => ({ text, place: robot.poses.subarray(7 * link, 7 * link + 3) }))
  )) : []);

  // Frames of links are drawn from their poses, so that they move along.
  const ownFrame = (self, { layer, robot, name }) => (
    layer === 'frames' && Boolean(self.scene.robots[robot]) && instances.framePose(self.scene.robots[robot], name) !== null
  );

  // Marks of a robot that a trajectory moves are the trajectory's, or none: those of the start would be wrong.
  const marksNow = (self) => {
    const moved = new Map();
    self.driving.forEach((motion, robot) => moved.set(robot, motion));
    const still = self.scene.marks.filter((mark) => !moved.has(mark.robot));
    const along = [...moved.values()].filter((motion) => motion.marks).flatMap(
      (motion) => motion.marks[documents.indexAt(motion.times, self.clock.time)] || [],
    );
    return [...still, ...along].filter((mark) => (!mark.layer || self.layers[mark.layer]) && !ownFrame(self, mark));
  };

  const gathered = (self) => {
    const bounds = instances.bounds(self.scene.robots);
    const frame = {
      solid: new Map(), translucent: new Map(), top: new Map(), bounds, theme: theme.scene(), camera: self.camera,
      meshes: { get: (name) => self.scene.meshes.get(name).triangles() },
    };
    const marks = marksNow(self);
    self.scene.robots.forEach((robot) => instances.addRobot(frame, robot, self.layers, self.size));
    marks.forEach((mark) => instances.addMark(frame, mark, self.size));
    self.handle.draw(frame, self.size);
    self.gizmo.draw(frame.top);
    return { frame, names: marks.filter((mark) => mark.name).map((mark) => ({ text: mark.name, place: mark.position })) };
  };

  const fly = (self, now) => {
    if (!self.flight) return;
    const { from, to, start } = self.flight;
    const part = self.calm ? 1 : maths.clamp((now - start) / FLIGHT, 0, 1);
    const eased = part * part * (3 - 2 * part);
    self.camera.target = maths.mix(from.target, to.target, eased);
    self.camera.distance = from.distance * (to.distance / from.distance) ** eased;
    if (part >= 1) self.flight = null;
  };

  const picture = (self, now) => {
    self.waiting = false;
    pace(self, now);
    self.clock.tick(now);
    fly(self, now);
    if (self.renderer && !self.renderer.lost) {
      const { frame, names } = gathered(self);
      self.renderer.draw(frame);
      self.labels.show(self.camera, [...linkLabels(self), ...names, ...self.gizmo.labels()]);
    }
    self.updates.forEach((update) => update());
    self.frames += 1;
    self.ready = true;
    if (self.clock.playing || self.flight) self.redraw();
  };

  const resized = (self) => {
    const { clientWidth: width, clientHeight: height } = self.canvas;
    if (!width || !height) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 3) * (self.coarse ? COARSE : 1);
    const size = [Math.round(width * ratio), Math.round(height * ratio)];
    if (self.canvas.width !== size[0] || self.canvas.height !== size[1]) {
      [self.canvas.width, self.canvas.height] = size;
      self.redraw();
    }
    Object.assign(self.camera, { width, height });
    if (!self.fitted) { self.camera.fit(instances.bounds(self.scene.robots)); self.fitted = true; }
  };

  // Where pictures come slowly, as without a graphics card, they are coarse while something moves.
  const pace = (self, now) => {
    clearTimeout(self.settle);
    if (self.settling) { self.settling = false; return; }
    self.slow = now - self.asked > SLOW ? Math.min(self.slow + 1, 6) : Math.max(0, self.slow - 0.2);
    if (self.slow < 3 && !self.coarse) return; // coarse pictures come quickly: they still have to end in a fine one
    if (!self.coarse) { self.coarse = true; resized(self); }
    self.settle = setTimeout(() => { self.coarse = false; self.settling = true; resized(self); self.redraw(); }, REST);
  };

  // Every robot plays its own trajectory: the one that was chosen, or else its first.
  const drive = (self) => {
    self.taken = false;
    self.driving.clear();
    self.scene.trajectories.forEach((motion) => {
      if (!self.driving.has(motion.robot)) self.driving.set(motion.robot, motion);
    });
    const chosen = self.scene.trajectories[self.chosen];
    if (chosen) self.driving.set(chosen.robot, chosen);
    const all = [...self.driving.values()];
    self.clock.begin = Math.min(...all.map((motion) => motion.times[0]), Infinity);
    self.clock.end = Math.max(...all.map((motion) => motion.times[motion.times.length - 1]), -Infinity);
    if (!all.length) Object.assign(self.clock, { begin: 0, end: 0 });
  };
  const follow = (self) => {
    if (self.taken) drive(self);
    self.driving.forEach((motion, robot) => {
      documents.posesAt(motion, self.clock.time, self.scene.robots[robot].poses);
    });
  };

  const viewing = (self) => ({
    redraw: () => {
      if (self.waiting) return;
      self.waiting = true;
      self.asked = performance.now();
      requestAnimationFrame((now) => picture(self, now));
    },
    stopFlight: () => { self.flight = null; },
    flyToRobot: () => {
      const bounds = instances.bounds(self.scene.robots);
      self.camera.radius = bounds.radius;
      const { target, distance } = self.camera;
      self.flight = { from: { target, distance }, to: self.camera.fitted(bounds), start: performance.now() };
      self.redraw();
    },
    setLayer: (layer, on) => { self.layers[layer] = on; self.layersChanged(); self.redraw(); },
    hold: () => self.handle.hold(),
    pulled: (pose) => self.handle.pulled(pose),
    resized: () => resized(self),
  });

  // By name and span: the numbers inside may be others, which are shown at the same time then.
  const sameMotions = (a, b) => a.length === b.length && a.every((one, k) => (
    one.name === b[k].name && one.robot === b[k].robot && one.times[0] === b[k].times[0]
      && one.times[one.times.length - 1] === b[k].times[b[k].times.length - 1]
  ));

  const showing = (self) => ({
    choose: (index) => {
      self.chosen = index;
      drive(self);
      self.clock.set(self.clock.time);
      self.shown();
    },
    // A server moves this robot now, and the time bar no longer does.
    takeOver: (index, poses) => {
      if (self.driving.delete(index)) {
        self.taken = true;
        self.clock.pause();
      }
      self.scene.robots[index].poses.set(poses.flat());
      self.redraw();
    },
    // A server sends its scene to whoever reaches it, or reaches it again: motions that were there go on.
    setScene: (scene) => {
      const { time, playing } = self.clock;
      const same = sameMotions(self.scene.trajectories, scene.trajectories) && !self.taken;
      const { chosen } = self;
      self.scene = scene;
      if (self.renderer) self.renderer.forgetMeshes();
      self.size = instances.bounds(scene.robots).radius;
      self.handle.drop();
      self.setTrajectories(scene.trajectories);
      if (!same) return;
      self.choose(chosen);
      self.clock.set(time);
      if (playing) self.clock.play();
    },
    setTrajectories: (trajectories) => {
      self.scene.trajectories = trajectories;
      self.chosen = 0;
      drive(self);
      self.clock.playing = false;
      self.clock.set(self.clock.begin);
      self.shown();
    },
  });

  const create = (canvas, live) => {
    const self = {
      canvas, live, layers: { ...DEFAULTS }, frames: 0, ready: false, connected: false, waiting: false, flight: null, fitted: false, chosen: 0, taken: false, coarse: false, slow: 0,
      asked: 0, settle: 0, settling: false,
      driving: new Map(), updates: [], size: 1, scene: { robots: [], trajectories: [], marks: [], meshes: new Map() },
      calm: window.matchMedia('(prefers-reduced-motion: reduce)').matches, layersChanged: () => {}, shown: () => {},
      ask: () => false,
    };
    Object.assign(self, viewing(self), showing(self));
    self.camera = camera.create();
    self.clock = clock.create(() => { follow(self); self.redraw(); }, () => self.redraw());
    self.handle = handle.create(self);
    self.gizmo = gizmo.create(self);
    self.labels = labels.create(dom.byId('labels'));
    return self;
  };

  return { create };
})();

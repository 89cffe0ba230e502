// A frame that the user pulls and inverse kinematics follows: choice of the frame, and how well it follows.
const handle = (() => {
  const report = (box, ik) => {
    if (!ik) { box.replaceChildren(dom.element('p', { class: 'note' }, 'Pull the handle in the scene.')); return; }
    const row = (name, value) => [dom.element('dt', {}, name), dom.element('dd', {}, value)];
    const lines = row('position error', `${dom.number(ik.position_error)} m`);
    if (ik.rotation_error !== null && ik.rotation_error !== undefined) {
      lines.push(...row('rotation error', `${dom.number(ik.rotation_error)} rad`));
    }
    const state = dom.element('p', { class: ik.success ? 'good' : 'bad' }, ik.success ? '\u2713 follows' : '\u2717 cannot follow');
    const parts = [state, dom.element('dl', {}, ...lines)];
    if (!ik.success && ik.reason) parts.push(dom.element('p', { class: 'reason' }, ik.reason));
    if (ik.limits && ik.limits.length) {
      parts.push(dom.element('ul', { class: 'limits' }, ...ik.limits.map((text) => dom.element('li', {}, text))));
    }
    box.replaceChildren(...parts);
  };

  const choices = (app) => {
    const out = [['', 'none']];
    app.scene.robots.forEach((robot, index) => robot.frames.forEach((frame) => {
      const name = app.scene.robots.length > 1 ? `${robot.name}: ${frame}` : frame;
      if (instances.framePose(robot, frame)) out.push([JSON.stringify([index, frame]), name]);
    }));
    return out;
  };

  const create = (app) => {
    const self = { robot: 0, frame: null, turns: true, ownAxes: false, target: null, ik: null };
    self.pose = () => (self.frame === null ? null : instances.framePose(app.scene.robots[self.robot], self.frame));
    // What the gizmo holds: where the user pulled to, or the frame itself.
    self.hold = () => {
      const pose = self.target || self.pose();
      return pose ? { pose, turns: self.turns, ownAxes: self.ownAxes } : null;
    };
    self.drop = () => { self.target = null; self.ik = null; self.show(); };
    self.choose = (robot, frame) => { Object.assign(self, { robot, frame }); self.drop(); app.redraw(); };
    self.pulled = (pose) => {
      if (pose) self.target = pose;
      if (!self.target) return;
      app.ask({
        type: 'drag', robot: self.robot, frame: self.frame, position: self.target.slice(0, 3),
        quaternion: self.turns ? self.target.slice(3) : null,
      });
      app.redraw();
    };
    self.heard = (ik) => { if (ik && self.frame !== null) { self.ik = ik; self.show(); } };
    self.result = dom.element('div', { class: 'result', role: 'status' });
    self.show = () => report(self.result, self.ik);
    // The target as faint axes, and a line to the frame where it was not reached.
    self.draw = (frame, scale) => {
      const pose = self.pose();
      if (!pose || !self.target) return;
      instances.axes(frame.translucent, self.target, 0.14 * scale, 0.5);
      if (maths.length(maths.sub(self.target, pose)) > 1e-3 * scale) {
        instances.rod(frame.translucent, pose.slice(0, 3), self.target.slice(0, 3), 0.004 * scale, [0.84, 0.37, 0, 0.6]);
      }
    };
    return self;
  };

  const panel = (app) => {
    const self = app.handle;
    const frames = dom.select('frame that the handle holds', choices(app), '', (value) => {
      const [robot, frame] = value ? JSON.parse(value) : [0, null];
      self.choose(robot, frame);
    });
    if (self.frame !== null) frames.value = JSON.stringify([self.robot, self.frame]);
    const kinds = dom.select('what is followed', [['pose', 'position and rotation'], ['position', 'position only']],
      self.turns ? 'pose' : 'position', (value) => { self.turns = value === 'pose'; self.drop(); app.redraw(); });
    const axes = dom.select('axes of the handle', [['world', 'the world\u2019s axes'], ['own', 'the frame\u2019s axes']],
      self.ownAxes ? 'own' : 'world', (value) => { self.ownAxes = value === 'own'; app.redraw(); });
    const back = dom.element('button', { type: 'button', onclick: () => { self.drop(); app.redraw(); } }, 'handle back to the frame');
    self.show();
    const field = (text, node) => dom.element('label', { class: 'field' }, dom.element('span', {}, text), node);
    return dom.panel('Handle', {}, field('frame', frames), field('follow', kinds), field('along', axes), self.result, back);
  };

  return { create, panel };
})();

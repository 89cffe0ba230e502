// Puts the page together: reads the scene, builds the panels, and talks to the server if there is one.
const main = (() => {
  const notice = (text) => {
    const box = dom.byId('notice');
    box.textContent = text;
    box.hidden = !text;
  };
  const complain = (text) => {
    const box = dom.byId('errors');
    const close = dom.element('button', { type: 'button', 'aria-label': 'dismiss', onclick: () => item.remove() }, '\u00d7');
    const item = dom.element('div', { class: 'error' }, dom.element('span', {}, text), close);
    box.append(item);
    while (box.children.length > 3) box.firstChild.remove();
  };

  const describe = (scene) => {
    dom.byId('title').textContent = scene.title;
    document.title = `${scene.title} \u00b7 robomorph`;
    dom.byId('subtitle').textContent = scene.robots.map((robot) => {
      const count = robot.coordinates.length;
      const name = scene.robots.length > 1 ? `${robot.name}: ` : '';
      return `${name}${robot.links.length} links${count ? `, ${count} coordinates` : ''}`;
    }).join(' \u00b7 ');
  };

  const build = (self) => {
    const side = dom.byId('panels');
    const joints = panels.joints(self);
    const parts = [panels.layers(self)];
    if (self.live) parts.push(handle.panel(self));
    side.replaceChildren(...parts, ...joints.map((joint) => joint.node));
    const showTime = timebar.create(dom.byId('timebar'), self);
    const drawn = plots.create(dom.byId('plots'), self.scene.trajectories[self.chosen], () => self.clock.time, (t) => {
      self.clock.pause();
      self.clock.set(t);
    });
    self.plots = drawn;
    self.showJoints = () => joints.forEach((joint) => joint.show());
    let before = null;
    self.updates = [() => {
      showTime();
      if (before === self.clock.time) return;
      before = self.clock.time;
      drawn.forEach((plot) => plot.show());
    }];
    describe(self.scene);
    self.redraw();
  };

  const states = (self, message) => {
    for (const { index, q, poses } of message.robots) {
      const robot = self.scene.robots[index];
      // A state that nobody asked for, and in which nothing moved, stops no trajectory.
      const news = message.id !== null && message.id !== undefined;
      if (news || q.some((x, k) => x !== robot.q[k])) self.takeOver(index, poses);
      robot.q = q;
    }
    if (message.marks) self.scene.marks = message.marks;
    self.handle.heard(message.ik);
    self.showJoints();
  };
  const HEARD = {
    scene: (self, message) => {
      self.setScene(documents.scene(message.scene));
      self.connected = true;
    },
    state: (self, message) => { if (!self.socket.stale(message.id)) states(self, message); },
    trajectories: (self, message) => self.setTrajectories(message.trajectories.map(documents.trajectory)),
    error: (self, message) => complain(message.text),
    frame: (self, message) => self.takeOver(message.robot, message.poses),
  };
  const STATUS = {
    opening: () => 'connecting \u2026',
    open: () => '',
    lost: (delay) => `The connection to robomorph is lost. Trying again in ${(delay / 1000).toFixed(1)} s.`,
  };

  const connect = (self) => {
    const on = () => Object.keys(self.layers).filter((layer) => self.layers[layer]);
    const tellLayers = () => self.socket.send({ type: 'layers', on: on() });
    self.socket = socket.create(
      (message) => {
        if (!HEARD[message.type]) { complain(`the server sent a message of an unknown kind: ${message.type}`); return; }
        HEARD[message.type](self, message);
      },
      (state, delay) => {
        const box = dom.byId('connection');
        box.hidden = state === 'open';
        self.connected = false; // until the scene has come
        dom.byId('connection-text').textContent = STATUS[state](delay);
      },
      () => { self.socket.send({ type: 'hello' }); tellLayers(); },
    );
    self.ask = self.socket.ask;
    self.layersChanged = tellLayers;
    self.moveJoints = (index) => {
      self.handle.drop();
      self.ask({ type: 'q', robot: index, q: Array.from(self.scene.robots[index].q) });
    };
    self.reset = () => { self.handle.drop(); self.ask({ type: 'reset' }); };
    dom.byId('reconnect').addEventListener('click', self.socket.start);
    self.socket.start();
  };

  const keys = (self) => document.addEventListener('keydown', (event) => {
    if (event.key !== ' ' || event.target.closest('input, select, button, summary, textarea')) return;
    event.preventDefault();
    self.clock.toggle();
  });
  const buttons = (self) => {
    const press = (id, act) => dom.byId(id).addEventListener('click', act);
    press('fit', self.flyToRobot);
    press('fold', () => {
      const folded = document.body.classList.toggle('folded');
      dom.byId('fold').setAttribute('aria-expanded', String(!folded));
    });
    press('help', () => {
      const card = dom.byId('card');
      card.hidden = !card.hidden;
      dom.byId('help').setAttribute('aria-expanded', String(!card.hidden));
    });
  };

  const hooks = (self) => {
    const rows = (index) => {
      const { poses, links } = self.scene.robots[index];
      return links.map((_, link) => Array.from(poses.subarray(7 * link, 7 * link + 7)));
    };
    const project = (place) => {
      const box = self.canvas.getBoundingClientRect();
      const [x, y] = self.camera.project(place);
      return [x + box.left, y + box.top];
    };
    const hook = {
      poses: (index = 0) => rows(index), project, time: () => self.clock.time, setTime: self.clock.set,
      play: self.clock.play, pause: self.clock.pause, camera: self.camera, layers: self.layers, redraw: self.redraw,
      cursors: () => self.plots.map((plot) => plot.shown),
    };
    const property = (name, get, set) => Object.defineProperty(hook, name, { get, set, enumerable: true });
    property('ready', () => self.ready);
    property('connected', () => self.connected);
    // The last picture is a fine one, and no other is on its way.
    property('settled', () => !self.waiting && !self.coarse && !self.settling && !self.flight && !self.clock.playing);
    property('frames', () => self.frames);
    property('scene', () => self.scene);
    property('speed', () => self.clock.speed, (value) => { self.clock.speed = value; self.redraw(); });
    property('loop', () => self.clock.loop, (value) => { self.clock.loop = value; self.redraw(); });
    property('handle', () => {
      const hold = self.handle.hold();
      return hold ? { frame: self.handle.frame, position: hold.pose.slice(0, 3), pose: hold.pose.slice() } : null;
    });
    return hook;
  };

  const prepare = (self) => {
    self.renderer = renderer.create(self.canvas, ({ lost }) => {
      notice(lost ? 'The graphics card was taken away from this page; the scene comes back with it.' : '');
      if (!lost) self.redraw();
    });
    if (!self.renderer) {
      notice('This browser shows no WebGL2, which the scene needs. Another browser, or hardware acceleration in its settings, may help.');
    }
    self.shown = () => build(self);
    pointer.attach(self);
    keys(self);
    buttons(self);
    new ResizeObserver(self.resized).observe(self.canvas);
    window.addEventListener('resize', self.resized);
    theme.onChange(() => { self.plots.forEach((plot) => plot.repaint()); self.redraw(); });
  };

  const start = () => {
    const live = document.documentElement.dataset.live === 'yes';
    const self = app.create(dom.byId('canvas'), live);
    prepare(self);
    self.setScene(documents.scene(JSON.parse(dom.byId('scene').textContent)));
    self.resized();
    if (live) connect(self);
    window.robomorph = hooks(self);
  };

  return { start };
})();

main.start();

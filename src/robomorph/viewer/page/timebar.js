// Play, scrub, speed, loop, and which trajectory.
const timebar = (() => {
  const PLAY = 'M8 5v14l11-7z';
  const PAUSE = 'M6 5h4v14H6zM14 5h4v14h-4z';
  const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

  const playButton = (clock) => {
    const node = dom.element('button', { type: 'button', class: 'play', onclick: clock.toggle });
    const icons = { true: dom.icon(PAUSE), false: dom.icon(PLAY) };
    let shown = null;
    const update = () => {
      if (shown === clock.playing) return;
      shown = clock.playing;
      node.replaceChildren(icons[shown]);
      node.setAttribute('aria-label', shown ? 'pause' : 'play');
      node.title = shown ? 'pause (space)' : 'play (space)';
    };
    return { node, update };
  };
  const track = (clock) => {
    const node = dom.element('input', {
      type: 'range', class: 'track', step: 'any', min: clock.begin, max: clock.end, value: clock.time, 'aria-label': 'time',
      oninput: () => { clock.pause(); clock.set(Number(node.value)); },
    });
    const update = () => {
      node.value = clock.time;
      const part = (clock.time - clock.begin) / (clock.end - clock.begin || 1);
      node.style.setProperty('--part', `${(100 * part).toFixed(2)}%`);
      node.setAttribute('aria-valuetext', `${clock.time.toFixed(2)} seconds`);
    };
    return { node, update };
  };
  const reading = (clock) => {
    const node = dom.element('output', { class: 'reading' });
    const update = () => { node.textContent = `${clock.time.toFixed(2)} / ${clock.end.toFixed(2)} s`; };
    return { node, update };
  };
  const loopBox = (clock) => {
    const box = dom.element('input', { type: 'checkbox', onchange: () => { clock.loop = box.checked; } });
    const update = () => { box.checked = clock.loop; };
    return { node: dom.element('label', { class: 'check' }, box, 'loop'), update };
  };
  const speedBox = (clock) => {
    const node = dom.select('speed', SPEEDS.map((s) => [s, `${s}\u00d7`]), clock.speed, (value) => {
      clock.speed = Number(value);
    });
    const update = () => { if (Number(node.value) !== clock.speed) node.value = String(clock.speed); };
    return { node, update };
  };

  // Fills the bar, which is hidden without trajectories; gives a function that shows the time.
  const create = (box, app) => {
    const { clock, scene } = app;
    box.replaceChildren();
    box.hidden = scene.trajectories.length === 0;
    if (box.hidden) return () => {};
    const parts = [playButton(clock), track(clock), reading(clock), speedBox(clock), loopBox(clock)];
    box.append(...parts.map((part) => part.node));
    if (scene.trajectories.length > 1) {
      const names = scene.trajectories.map((one, k) => [k, one.name]);
      box.append(dom.select('trajectory', names, app.chosen, (value) => app.choose(Number(value))));
    }
    return () => parts.forEach((part) => part.update());
  };

  return { create };
})();

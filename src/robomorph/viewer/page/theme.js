// Colours: the set of Okabe and Ito, which those who see fewer colours can tell apart, and light and dark scenes.
const theme = (() => {
  const LINES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7f7f7f', '#b8a800'];
  const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [4, 6]];
  const AXES = [[0.84, 0.25, 0.1], [0.0, 0.62, 0.45], [0.05, 0.42, 0.86]];
  const LAYERS = {
    com: [0.9, 0.62, 0, 1], manipulability: [0.8, 0.47, 0.65, 0.4], forces: [0.84, 0.37, 0, 1],
    collision: [0.9, 0.62, 0, 0.4], inertia: [0.34, 0.71, 0.91, 0.4],
  };
  const LIGHT = {
    low: [0.9, 0.915, 0.935], high: [0.985, 0.99, 0.995], sky: [0.54, 0.56, 0.6], floorLight: [0.3, 0.29, 0.28],
    grid: [0.4, 0.45, 0.52, 0.42], shadow: 0.3, axes: AXES,
  };
  const DARK = {
    low: [0.085, 0.1, 0.12], high: [0.16, 0.185, 0.22], sky: [0.44, 0.48, 0.55], floorLight: [0.16, 0.16, 0.17],
    grid: [0.6, 0.66, 0.75, 0.3], shadow: 0.5, axes: AXES,
  };
  const wanted = window.matchMedia('(prefers-color-scheme: dark)');

  return {
    AXES,
    GHOST: [0.34, 0.71, 0.91],
    LAYERS,
    line: (k) => ({ colour: LINES[k % LINES.length], dash: DASHES[Math.floor(k / LINES.length) % DASHES.length] }),
    scene: () => (wanted.matches ? DARK : LIGHT),
    page: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
    onChange: (act) => wanted.addEventListener('change', act),
  };
})();

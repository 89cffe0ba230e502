// Numbers of a plot: round ticks, ranges, and long lines thinned to what a pixel can show.
const scales = (() => {
  const MOST_GROWTH = 2.5;

  const ticks = (low, high, wanted) => {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
    const out = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) out.push(k * step);
    const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return { values: out, text: (x) => (Math.abs(x) < step / 1e6 ? 0 : x).toFixed(Math.min(places, 8)).replace('-', '\u2212') };
  };

  const extent = (lines) => {
    let [low, high] = [Infinity, -Infinity];
    for (const line of lines) {
      for (const x of line.values) {
        if (x < low) low = x;
        if (x > high) high = x;
      }
    }
    return low > high ? [0, 1] : [low, high];
  };
  const limitsOf = (lines) => lines.flatMap((line) => [line.lower, line.upper])
    .filter((x) => x !== null && x !== undefined && Number.isFinite(x));

  // The range of values, and of the limits among them that do not squeeze the lines flat.
  const range = (lines) => {
    const [low, high] = extent(lines);
    const span = Math.max(high - low, 1e-9 * Math.max(Math.abs(low), Math.abs(high)), 1e-12);
    let [bottom, top] = [low, high];
    let beyond = 0;
    for (const limit of limitsOf(lines)) {
      if (Math.max(high, limit) - Math.min(low, limit) <= MOST_GROWTH * span) {
        [bottom, top] = [Math.min(bottom, limit), Math.max(top, limit)];
      } else beyond += 1;
    }
    const margin = 0.06 * Math.max(top - bottom, span);
    return { low: bottom - margin, high: top + margin, beyond };
  };

  // Points [x, y] in pixels. More points than pixels: of every column first, lowest, highest and last are kept.
  const points = (times, values, x, y, columns) => {
    if (times.length <= Math.max(2000, 2 * columns)) {
      return Array.from(times, (t, k) => [x(t), y(values[k])]);
    }
    const out = [];
    for (let k = 0; k < times.length;) {
      const column = Math.floor(x(times[k]));
      const kept = { first: k, low: k, high: k, last: k };
      for (; k < times.length && Math.floor(x(times[k])) === column; k += 1) {
        if (values[k] < values[kept.low]) kept.low = k;
        if (values[k] > values[kept.high]) kept.high = k;
        kept.last = k;
      }
      const chosen = [...new Set(Object.values(kept))].sort((a, b) => a - b);
      for (const j of chosen) out.push([x(times[j]), y(values[j])]);
    }
    return out;
  };

  const valueAt = (times, values, t) => {
    const k = documents.indexAt(times, t);
    const next = Math.min(k + 1, times.length - 1);
    const span = times[next] - times[k];
    return span > 0 ? values[k] + (values[next] - values[k]) * maths.clamp((t - times[k]) / span, 0, 1) : values[k];
  };

  return { ticks, range, points, valueAt };
})();

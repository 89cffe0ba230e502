// The time that the bar shows: played at a speed, scrubbed, in a loop or not.
const clock = (() => {
  const LONGEST_STEP = 0.25; // s of real time: a page that was hidden goes on where it was

  // `moved()` hears of a new time, `changed()` of play and pause.
  const create = (moved, changed) => {
    const self = { time: 0, begin: 0, end: 0, playing: false, speed: 1, loop: true, last: null };
    self.set = (time) => {
      self.time = maths.clamp(Number.isFinite(time) ? time : self.begin, self.begin, self.end);
      moved();
    };
    self.play = () => {
      if (!(self.end > self.begin)) return;
      if (self.time >= self.end) self.set(self.begin);
      self.playing = true;
      self.last = null;
      changed();
    };
    self.pause = () => { self.playing = false; changed(); };
    self.toggle = () => (self.playing ? self.pause() : self.play());
    // Called once for every picture; `now` in milliseconds.
    self.tick = (now) => {
      if (!self.playing) return;
      const step = self.last === null ? 0 : Math.min((now - self.last) / 1000, LONGEST_STEP);
      self.last = now;
      let time = self.time + step * self.speed;
      if (time >= self.end) {
        self.playing = self.loop;
        time = self.loop ? self.begin + ((time - self.begin) % (self.end - self.begin)) : self.end;
      }
      self.set(time);
    };
    return self;
  };

  return { create };
})();

// The connection to the program that serves the page. It is opened again, later and later, when it is lost.
const socket = (() => {
  const FIRST = 500; // ms
  const LONGEST = 10000;

  const address = () => {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    return `${scheme}://${location.host}/socket${location.search}`;
  };

  const read = (self, text) => {
    let message;
    try {
      message = JSON.parse(text);
    } catch (error) {
      self.hear({ type: 'error', id: null, text: 'the server sent something that is not JSON' });
      return;
    }
    self.hear(message);
  };

  const wait = (self) => {
    const delay = Math.min(FIRST * 2 ** self.failures, LONGEST);
    self.failures += 1;
    self.status('lost', delay);
    clearTimeout(self.timer);
    self.timer = setTimeout(() => open(self), delay);
  };
  const open = (self) => {
    clearTimeout(self.timer);
    self.status('opening', 0);
    const link = new WebSocket(address());
    self.link = link;
    link.addEventListener('open', () => {
      self.failures = 0;
      self.status('open', 0);
      self.greet();
    });
    link.addEventListener('message', (event) => { if (self.link === link) read(self, event.data); });
    link.addEventListener('close', () => { if (self.link === link) wait(self); });
  };

  // `hear(message)`, `status('opening' | 'open' | 'lost', delay)`, `greet()` after every opening.
  const create = (hear, status, greet) => {
    const self = { hear, status, greet, failures: 0, timer: 0, link: null, number: 0, heard: 0 };
    self.send = (message) => {
      if (!self.link || self.link.readyState !== WebSocket.OPEN) return false;
      self.link.send(JSON.stringify(message));
      return true;
    };
    self.ask = (message) => {
      self.number += 1;
      return self.send({ ...message, id: self.number });
    };
    // Whether an answer is older than one that was shown already.
    self.stale = (id) => {
      if (id === null || id === undefined) return false;
      if (id < self.heard) return true;
      self.heard = id;
      return false;
    };
    self.start = () => open(self);
    return self;
  };

  return { create };
})();

// Browsers start no workers for pages that are opened from the disk. There, the search works in a hidden frame.
if (location.protocol === "file:") {
  // As between threads: a message is a copy, and arrives after what is being done.
  const later = (data, take) => {
    const copy = structuredClone(data);
    setTimeout(() => take(copy));
  };
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => later(data, (copy) => this.dispatchEvent(new MessageEvent("message", { data: copy })));
      const script = inside.document.createElement("script");
      script.src = new URL(url, location.href).href;
      this.loaded = new Promise((resolve) => script.addEventListener("load", resolve));
      inside.document.documentElement.append(script);
      this.inside = inside;
    }

    set onmessage(listener) {
      this.addEventListener("message", listener);
    }

    postMessage(data) {
      later(data, (copy) => this.loaded.then(() => this.inside.onmessage({ data: copy })));
    }
  };
}

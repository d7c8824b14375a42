// One page for one or two runs. Data: see pyorch/look/shown.py. Nothing is loaded.
"use strict";

const MAP = [[0, 34, 78], [58, 77, 108], [124, 123, 120], [188, 175, 111], [254, 232, 56]]; // cividis
const element = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const percent = (share) => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";

function color(share) {
  const x = Math.max(0, Math.min(1, share)) * (MAP.length - 1);
  const i = Math.min(MAP.length - 2, Math.floor(x));
  return MAP[i].map((from, k) => Math.round(from + (MAP[i + 1][k] - from) * (x - i)));
}

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

async function unpacked(text) {
  const stream = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function size(n) {
  for (const [unit, many] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (n >= many) return (n / many).toFixed(n / many < 10 ? 2 : 1) + " " + unit;
  }
  return n.toFixed(0) + " B";
}

function time(us) {
  if (us >= 1e6) return (us / 1e6).toFixed(3) + " s";
  if (us >= 1e4) return (us / 1e3).toFixed(2) + " ms";
  return us.toFixed(us < 100 ? 2 : 1) + " us";
}

/// Make a canvas as wide as its place; returns its context, width and height in CSS pixels.
function fit(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(40, canvas.clientWidth);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = "11px system-ui, sans-serif";
  return [context, width, height];
}

// ---- what all runs share ------------------------------------------------------------------------

const clock = { us: 0, endUs: 1, fromUs: 0, toUs: 1, timer: 0 };
const runs = [];

function setTime(us) {
  clock.us = Math.max(0, Math.min(clock.endUs, us));
  element("time").value = clock.us;
  element("now").textContent = time(clock.us);
  runs.forEach((run) => run.drawAtTime());
}

function zoom(aroundUs, factor) {
  const span = Math.min(clock.endUs, (clock.toUs - clock.fromUs) * factor);
  if (span < clock.stepUs * 4) return;
  const share = (aroundUs - clock.fromUs) / (clock.toUs - clock.fromUs);
  move(aroundUs - share * span, span);
}

function move(fromUs, span) {
  clock.fromUs = Math.max(0, Math.min(clock.endUs - span, fromUs));
  clock.toUs = clock.fromUs + span;
  runs.forEach((run) => run.draw());
}

function say(event, text) {
  const tip = element("tip");
  tip.style.display = text ? "block" : "none";
  tip.textContent = text || "";
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 6);
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = event.clientY + 14 + "px";
}

// ---- one run ------------------------------------------------------------------------------------

class Run {
  constructor(data, place, several) {
    Object.assign(this, data);
    for (const name of ["load", "paused", "queue"]) this[name] = bytes(data[name]);
    this.rates.values = bytes(data.rates.values);
    this.message = null;
    this.link = null;
    this.kinds = [...new Set(this.links.map((link) => link[3]))];
    const section = document.createElement("section");
    section.className = "run" + (several ? " several" : "");
    const of = (name) => `<canvas data-name="${name}" tabindex="0"></canvas>`;
    section.innerHTML =
      (several ? `<h2></h2>` : "") +
      `<div class="about" aria-live="polite"></div><div class="parts"><div>` +
      `<h3>Network <small>at the time above; a larger node has longer queues</small></h3>${of("net")}` +
      `<h3>Every link over time <small>rows: links in the order of a packet's way</small></h3>` +
      `<div class="scroll">${of("heat")}</div></div><div>` +
      `<h3>Messages, slowest first <small class="many"></small></h3>` +
      `<div class="scroll">${of("list")}</div>` +
      `<h3>The message over time <small class="what"></small></h3>${of("rate")}</div></div>` +
      (this.lanes.length
        ? `<h3>Training step <small>outlined: the chain that decides its length</small></h3>` +
          `<div class="scroll">${of("lanes")}</div>`
        : "");
    if (several) section.querySelector("h2").textContent = this.title;
    place.append(section);
    this.section = section;
    this.about = section.querySelector(".about");
    this.canvas = {};
    section.querySelectorAll("canvas").forEach((c) => (this.canvas[c.dataset.name] = c));
    const shown = this.messages.length;
    section.querySelector(".many").textContent =
      shown < this.n_messages ? `${shown} of ${this.n_messages}` : `${shown}`;
    this.layout();
    this.listen();
  }

  // -- names

  nameOf(link) {
    const [from, to] = this.links[link];
    return `${this.nodeName(from)} to ${this.nodeName(to)}`;
  }

  nodeName(node) {
    const { name, tier } = this.nodes[node];
    if (name.startsWith("hosts")) return name;
    return (tier === 0 ? "host " : "switch ") + name;
  }

  at(us) {
    return Math.max(0, Math.min(this.n_steps - 1, Math.floor(us / this.step_us)));
  }

  // -- where nodes are, between 0 and 1

  layout() {
    const tiers = [...new Set(this.nodes.map((node) => node.tier))].sort((a, b) => a - b);
    this.place = new Array(this.nodes.length);
    tiers.forEach((tier, level) => {
      const own = this.nodes.map((node, i) => [node, i]).filter(([node]) => node.tier === tier);
      own.forEach(([, i], k) => {
        const y = tiers.length > 1 ? 1 - level / (tiers.length - 1) : 0.5;
        this.place[i] = [(k + 0.5) / own.length, y];
      });
    });
    if (tiers.length > 1) this.overNeighbours();
    const switches = tiers.filter((tier) => tier > 0);
    const many = (tier) => this.nodes.filter((node) => node.tier === tier).length;
    this.widest = Math.max(1, ...switches.map(many));
    this.mostQueued = 1;
    for (let step = 0; step < this.n_steps; step++) {
      const queued = new Float32Array(this.nodes.length);
      this.links.forEach(([from], i) => (queued[from] += this.queue[i * this.n_steps + step]));
      this.mostQueued = queued.reduce((a, b) => Math.max(a, b), this.mostQueued);
    }
  }

  /// Switches of the first tier stand above the middle of their hosts.
  overNeighbours() {
    const sums = new Map();
    for (const [from, to] of this.links) {
      if (this.nodes[from].tier === 0 && this.nodes[to].tier === 1) {
        const [sum, n] = sums.get(to) || [0, 0];
        sums.set(to, [sum + this.place[from][0], n + 1]);
      }
    }
    const order = [...sums].map(([node, [sum, n]]) => [sum / n, node]).sort((a, b) => a[0] - b[0]);
    order.forEach(([, node], k) => (this.place[node][0] = (k + 0.5) / order.length));
  }

  // -- drawing

  draw() {
    this.drawHeat();
    this.drawList();
    this.drawRate();
    this.drawLanes();
    this.drawAtTime();
  }

  drawAtTime() {
    this.drawNet();
    for (const name of ["heat", "list", "rate", "lanes"]) this.drawCursor(name);
    this.tell();
  }

  x(us, width) {
    return ((us - clock.fromUs) / (clock.toUs - clock.fromUs)) * width;
  }

  us(x, width) {
    return clock.fromUs + (x / width) * (clock.toUs - clock.fromUs);
  }

  /// Keep a picture of a canvas, over which the line of the time is drawn.
  keep(name) {
    const canvas = this.canvas[name];
    const copy = document.createElement("canvas");
    copy.width = canvas.width;
    copy.height = canvas.height;
    copy.getContext("2d").drawImage(canvas, 0, 0);
    (this.kept = this.kept || {})[name] = copy;
  }

  /// Write times along the lower edge.
  drawTicks(g, width, height) {
    const span = clock.toUs - clock.fromUs;
    const rough = span / Math.max(2, Math.floor(width / 110));
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((each) => each >= rough);
    g.textBaseline = "bottom";
    for (let us = Math.ceil(clock.fromUs / step) * step; us < clock.toUs; us += step) {
      const text = us >= 1e4 ? `${+(us / 1e3).toFixed(3)} ms` : `${+us.toFixed(3)} us`;
      const x = this.x(us, width);
      g.fillStyle = css("--panel");
      g.globalAlpha = 0.75;
      g.fillRect(x, height - 14, g.measureText(text).width + 8, 14);
      g.globalAlpha = 1;
      g.fillStyle = css("--text");
      g.fillRect(x, height - 14, 1, 14);
      g.fillText(text, x + 4, height - 1);
    }
  }

  drawCursor(name) {
    const canvas = this.canvas[name];
    if (!canvas || !(this.kept || {})[name]) return;
    const context = canvas.getContext("2d");
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.kept[name], 0, 0);
    const x = this.x(clock.us, canvas.width / ratio) * ratio;
    context.fillStyle = css("--cursor");
    context.fillRect(x, 0, ratio, canvas.height);
  }

  chosenLinks() {
    const found = new Map();
    if (this.message) for (const [link, share] of this.message.path) found.set(link, share);
    if (this.link !== null) found.set(this.link, 1);
    return found;
  }

  drawNet() {
    const height = Math.min(380, 120 + 90 * new Set(this.nodes.map((n) => n.tier)).size);
    const [g, width] = fit(this.canvas.net, height);
    const step = this.at(clock.us);
    const chosen = this.chosenLinks();
    const at = (node) => [12 + this.place[node][0] * (width - 24), 16 + this.place[node][1] * (height - 36)];
    const held = css("--held");
    const many = this.links.length > 3000;
    const queue = new Float32Array(this.nodes.length);
    const line = (i, style, thick) => {
      const [from, to] = this.links[i];
      const [x1, y1] = at(from);
      const [x2, y2] = at(to);
      const shift = from < to ? 1.4 : -1.4;
      g.strokeStyle = style;
      g.lineWidth = thick;
      g.beginPath();
      g.moveTo(x1 + shift, y1);
      g.lineTo(x2 + shift, y2);
      g.stroke();
    };
    for (let i = 0; i < this.links.length; i++) {
      const cell = i * this.n_steps + step;
      queue[this.links[i][0]] += this.queue[cell];
      if (chosen.has(i)) continue;
      const load = this.load[cell] / 255;
      if (this.paused[cell] > 64) line(i, held, 2);
      else if (load > 0.02) line(i, `rgb(${color(load)})`, many ? 0.5 : 1.5);
      else if (!many) line(i, css("--line"), 0.5);
    }
    for (const [i, share] of chosen) line(i, css("--chosen"), 1 + 3.5 * Math.sqrt(share));
    const room = Math.max(2.5, Math.min(14, (0.45 * width) / this.widest)); // nodes do not overlap
    for (let i = 0; i < this.nodes.length; i++) {
      const [x, y] = at(i);
      const small = this.nodes.length > 200 && this.nodes[i].tier === 0;
      g.fillStyle = this.nodes[i].tier ? css("--message") : css("--faint");
      g.beginPath();
      const least = small ? 1.5 : Math.min(room, this.nodes[i].tier ? 4.5 : 2.5);
      g.arc(x, y, least + (room - least) * Math.sqrt(queue[i] / this.mostQueued), 0, 7);
      g.fill();
    }
    this.netAt = at;
  }

  heatRow() {
    return Math.max(1, Math.min(10, Math.round(380 / this.links.length)));
  }

  drawHeat() {
    const rows = this.links.length;
    const each = rows > 4000 ? 4000 / rows : this.heatRow();
    const [g, width, height] = fit(this.canvas.heat, Math.max(60, Math.round(each * rows)));
    this.heatEach = height / rows;
    const first = this.at(clock.fromUs);
    const last = Math.min(this.n_steps - 1, this.at(clock.toUs));
    const image = g.createImageData(last - first + 1, rows);
    const table = Array.from({ length: 256 }, (_, i) => color(i / 255));
    const held = /^#/.test(css("--held")) ? css("--held").match(/\w\w/g).map((h) => parseInt(h, 16)) : [213, 94, 0];
    for (let row = 0, k = 0; row < rows; row++) {
      for (let step = first; step <= last; step++, k += 4) {
        const cell = row * this.n_steps + step;
        const c = this.paused[cell] > 64 ? held : table[this.load[cell]];
        image.data[k] = c[0];
        image.data[k + 1] = c[1];
        image.data[k + 2] = c[2];
        image.data[k + 3] = 255;
      }
    }
    const sheet = document.createElement("canvas");
    sheet.width = image.width;
    sheet.height = rows;
    sheet.getContext("2d").putImageData(image, 0, 0);
    g.imageSmoothingEnabled = false;
    const left = this.x(first * this.step_us, width);
    const right = this.x((last + 1) * this.step_us, width);
    g.drawImage(sheet, left, 0, right - left, height);
    g.textBaseline = "top";
    let before = null;
    this.links.forEach(([, , , kind], row) => {
      if (kind === before) return;
      before = kind;
      const y = row * this.heatEach;
      g.fillStyle = "rgba(255,255,255,.9)";
      g.fillRect(0, y, 90, 1); // the row itself stays to be seen
      g.fillStyle = "rgba(0,0,0,.55)";
      g.fillRect(2, y + 2, g.measureText(kind).width + 8, 15);
      g.fillStyle = "#fff";
      g.fillText(kind, 6, y + 4);
    });
    g.strokeStyle = g.fillStyle = css("--chosen");
    g.lineWidth = 2;
    for (const link of this.chosenLinks().keys()) {
      const y = link * this.heatEach;
      if (this.heatEach > 5) g.strokeRect(1, y, width - 2, this.heatEach);
      else for (const x of [0, width - 10]) g.fillRect(x, y - 1.5, 10, this.heatEach + 3); // seen beside it
    }
    this.drawTicks(g, width, height);
    this.keep("heat");
  }

  drawList() {
    const n = this.messages.length;
    this.listEach = Math.max(2, Math.min(14, Math.round(400 / Math.max(1, n))));
    const [g, width] = fit(this.canvas.list, Math.max(40, this.listEach * n + 2));
    const endUs = clock.endUs;
    this.messages.forEach((message, i) => {
      const end = message.end_us === null ? endUs : message.end_us;
      g.fillStyle = message === this.message ? css("--chosen") : css("--message");
      const left = this.x(message.start_us, width);
      const right = this.x(end, width);
      g.fillRect(left, i * this.listEach, Math.max(1, right - left), Math.max(1, this.listEach - 1));
      if (this.listEach >= 12 && right - left > 90) {
        g.fillStyle = "#fff";
        g.textBaseline = "top";
        g.fillText(`${message.id}: ${message.src} to ${message.dst}`, Math.max(4, left + 4), i * this.listEach);
      }
    });
    this.keep("list");
  }

  drawRate() {
    const [g, width, height] = fit(this.canvas.rate, 150);
    const what = this.section.querySelector(".what");
    const message = this.message;
    const row = message ? this.messages.indexOf(message) : -1;
    const { values, n_steps, step_us, gbps } = this.rates;
    what.textContent = "choose one";
    if (message && (row + 1) * n_steps > values.length) what.textContent = "only the slowest have a rate";
    if (message && (row + 1) * n_steps <= values.length) {
      what.textContent = `line: what came of it, the axis ends at ${gbps.toFixed(0)} Gb/s`;
      g.strokeStyle = css("--chosen");
      g.lineWidth = 1.5;
      g.beginPath();
      for (let i = 0; i < n_steps; i++) {
        const y = height - 4 - (values[row * n_steps + i] / 255) * (height - 10);
        g.lineTo(this.x(i * step_us, width), y);
        g.lineTo(this.x((i + 1) * step_us, width), y);
      }
      g.stroke();
      const packets = this.packets[message.id];
      if (packets) {
        what.textContent += "; dots: its packets, by number";
        const most = Math.max(1, ...packets.map((packet) => packet[1]));
        g.fillStyle = css("--message");
        for (const [us, number] of packets) {
          g.fillRect(this.x(us, width) - 1, height - 4 - (number / most) * (height - 10), 2, 2);
        }
      } else if (!this.records.arrivals) what.textContent += "; trace: {arrivals: true} records its packets";
    }
    this.drawTicks(g, width, height);
    this.keep("rate");
  }

  drawLanes() {
    if (!this.lanes.length) return;
    this.laneRows = [];
    for (const step of this.lanes) {
      for (const device of step.devices) {
        const used = new Set(step.tasks.filter((task) => task[0] === device).map((task) => task[1]));
        [...used].sort((a, b) => a - b).forEach((lane) => this.laneRows.push([step, device, lane]));
      }
    }
    const each = 15;
    const [g, width, height] = fit(this.canvas.lanes, each * this.laneRows.length + 18);
    const colors = ["#8a8a8a", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];
    g.textBaseline = "top";
    this.laneRows.forEach(([step, device, lane], row) => {
      const name = step.names[lane];
      for (const task of step.tasks) {
        if (task[0] !== device || task[1] !== lane) continue;
        const left = this.x(task[2], width);
        const wide = Math.max(0.5, this.x(task[3], width) - left);
        g.fillStyle = colors[/comp/.test(name) ? 0 : 1 + (lane % (colors.length - 1))];
        g.fillRect(left, row * each + 1, wide, each - 3);
        if (task[5]) {
          g.strokeStyle = css("--cursor");
          g.lineWidth = 1.5;
          g.strokeRect(left, row * each + 1, wide, each - 3);
        }
      }
      g.fillStyle = css("--text");
      g.fillText(`${device}: ${name}`, 4, row * each + 1);
    });
    this.drawTicks(g, width, height);
    this.keep("lanes");
  }

  // -- words

  tell() {
    const parts = [];
    const list = (items) => `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
    const message = this.message;
    if (!message && this.link === null) {
      const first = this.messages[0];
      const end = first && first.end_us;
      this.about.innerHTML = first
        ? `The slowest message is ${first.id}, host ${first.src} to host ${first.dst}: ` +
          (end === null ? "it did not end." : `${time(end - first.start_us)}.`) +
          ` Click a message or a link, or search.`
        : "This run has no messages.";
      return;
    }
    if (message) {
      const took = message.end_us === null ? "did not end" : time(message.end_us - message.start_us);
      parts.push(
        `<b>Message ${message.id}</b>, host ${message.src} to host ${message.dst}, ${size(message.bytes)}: ` +
          `${took}. Sent again: ${message.again} packets; trimmed: ${message.trimmed}; timeouts: ${message.timeouts}.`,
      );
      parts.push(this.because(message));
      const hashed = message.path.length && message.path.every(([, share]) => share === 1);
      if (hashed) {
        const step = this.at(clock.us);
        const rows = message.path.map(([link]) => {
          const cell = link * this.n_steps + step;
          return `<tr><td>${this.nameOf(link)}</td><td>${percent(this.load[cell] / 255)}</td><td>${size(
            (this.queue[cell] / 255) * this.queue_bytes,
          )}</td><td>${percent(this.paused[cell] / 255)}</td></tr>`;
        });
        parts.push(
          `<table><tr><th>its path, at ${time(clock.us)}</th><th>load</th><th>queue</th><th>held back</th></tr>${rows.join("")}</table>`,
        );
      } else if (message.path.length) {
        parts.push(
          `It may take ${message.path.length} links; the wider a line, the larger its share if packets are ` +
            `spread evenly. Which path each packet took is not recorded.`,
        );
      }
    }
    if (this.link !== null) {
      const step = this.at(clock.us);
      const cell = this.link * this.n_steps + step;
      const own = this.messages.filter((m) => m.path.some(([link]) => link === this.link));
      parts.push(
        `<b>Link ${this.nameOf(this.link)}</b>, ${(this.links[this.link][2] / 1e9).toFixed(0)} Gb/s. At ${time(clock.us)}: ` +
          `load ${percent(this.load[cell] / 255)}, queue ${size((this.queue[cell] / 255) * this.queue_bytes)}, ` +
          `held back ${percent(this.paused[cell] / 255)}.` +
          (own.length ? ` Of the messages shown ${own.length} may take it: ${own.slice(0, 12).map((m) => m.id).join(", ")}${own.length > 12 ? ", ..." : ""}.` : ""),
      );
    }
    this.about.innerHTML = parts.length > 1 ? parts[0] + list(parts.slice(1)) : parts[0];
  }

  because(message) {
    const why = message.why;
    if (!why) {
      return message.path.length
        ? "It is spread over many paths, so no single link decides how long it takes."
        : "What decided how long it took is worked out for the slowest messages alone.";
    }
    const others = why.messages - 1;
    const beside = others > 0 ? `, which ${others} other message${others > 1 ? "s" : ""} crossed meanwhile` : "";
    const busy = `<b class="why">${this.nameOf(why.link)}</b>${beside}: it was sending for ${percent(why.share)} of the time of this message`;
    let text = why.full
      ? `Its bottleneck is ${busy}.`
      : `No link of its path was full. The busiest is ${busy}; ` +
        (why.held.length
          ? "for the rest PFC held its path back."
          : "the rest is what its sender waited for: window, rate, credit, or other messages of its host.");
    if (this.records.paused && !this.records.pauses) text += " Pauses of PFC were not recorded: trace: {pauses: true}.";
    const seen = new Set();
    const tree = (node) => {
      seen.add(node.link);
      const further = node.toward.length ? `, which was held back itself${list(node.toward)}` : "";
      return `<li>frames to ${this.nameOf(node.link)}, for ${percent(node.share)} of that time${further}</li>`;
    };
    const list = (nodes) => `, by<ul>${nodes.map(tree).join("")}</ul>`;
    const held = why.held.map((node) => {
      if (seen.has(node.link)) return ""; // told of as what held back a link before it
      const behind = node.toward.length ? list(node.toward) : "";
      return `<li>${this.nameOf(node.link)} was held back for ${percent(node.share)} of that time${behind}</li>`;
    });
    if (held.some(Boolean)) text += ` PFC:<ul>${held.join("")}</ul>`;
    return text;
  }

  // -- choosing

  choose(message) {
    this.message = message === this.message ? null : message;
    this.link = null;
    this.draw();
    if (this.message) this.show("list", this.messages.indexOf(this.message) * this.listEach);
  }

  chooseLink(link) {
    this.link = link === this.link ? null : link;
    this.draw();
    if (this.link !== null) this.show("heat", this.link * this.heatEach);
  }

  show(name, y) {
    const box = this.canvas[name].parentElement;
    if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - 20) box.scrollTop = y - box.clientHeight / 2;
  }

  /// Choose what a reader has typed. @return whether there is such a thing
  find(text) {
    const numbers = (text.match(/\d+/g) || []).map(Number);
    if (!numbers.length) return false;
    if (/host/i.test(text) && numbers.length === 1) {
      const found = this.messages.find((m) => m.src === numbers[0] || m.dst === numbers[0]);
      if (found) this.choose(found);
      return Boolean(found);
    }
    if (numbers.length >= 2) {
      const named = (node, number) => this.nodes[node].name === String(number);
      const link = this.links.findIndex(([from, to]) => named(from, numbers[0]) && named(to, numbers[1]));
      if (link >= 0) {
        this.chooseLink(link);
        return true;
      }
      const found = this.messages.find((m) => m.src === numbers[0] && m.dst === numbers[1]);
      if (found) this.choose(found);
      return Boolean(found);
    }
    const found = this.messages.find((m) => m.id === numbers[0]);
    if (found && found !== this.message) this.choose(found);
    return Boolean(found);
  }

  next(by) {
    const at = this.message ? this.messages.indexOf(this.message) + by : 0;
    const message = this.messages[Math.max(0, Math.min(this.messages.length - 1, at))];
    if (message && message !== this.message) this.choose(message);
  }

  linkNear(x, y) {
    let best = null;
    let least = 8;
    this.links.forEach(([from, to], i) => {
      const [x1, y1] = this.netAt(from);
      const [x2, y2] = this.netAt(to);
      const length = Math.hypot(x2 - x1, y2 - y1) || 1;
      const t = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length ** 2;
      if (t < 0.05 || t > 0.95) return;
      const side = ((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) / length;
      const shift = from < to ? 1.4 : -1.4;
      const far = Math.abs(side + (shift * (y2 - y1)) / length);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  listen() {
    const on = (name, does) => {
      const canvas = this.canvas[name];
      if (!canvas) return;
      let down = null;
      const point = (event) => {
        const box = canvas.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top, box.width];
      };
      canvas.addEventListener("pointerdown", (event) => (down = [...point(event), clock.fromUs]));
      canvas.addEventListener("pointermove", (event) => {
        const [x, y, width] = point(event);
        if (down && name !== "net" && event.buttons === 1 && Math.abs(x - down[0]) > 4) {
          const span = clock.toUs - clock.fromUs;
          move(down[3] - ((x - down[0]) / width) * span, span);
        } else say(event, does.tip(x, y, width));
      });
      canvas.addEventListener("pointerleave", (event) => say(event, ""));
      canvas.addEventListener("pointerup", (event) => {
        const [x, y, width] = point(event);
        if (down && Math.abs(x - down[0]) <= 4) does.click(x, y, width);
        down = null;
      });
      if (name !== "net") {
        canvas.addEventListener(
          "wheel",
          (event) => {
            if (!event.ctrlKey && !event.altKey && event.target.parentElement.scrollHeight > event.target.parentElement.clientHeight && !event.shiftKey) return;
            event.preventDefault();
            const [x, , width] = point(event);
            zoom(this.us(x, width), event.deltaY > 0 ? 1.25 : 0.8);
          },
          { passive: false },
        );
      }
    };
    on("net", {
      tip: (x, y) => {
        const link = this.linkNear(x, y);
        const step = this.at(clock.us);
        return link === null ? "" : `${this.nameOf(link)}: load ${percent(this.load[link * this.n_steps + step] / 255)}`;
      },
      click: (x, y) => {
        const link = this.linkNear(x, y);
        if (link !== null) this.chooseLink(link);
      },
    });
    const heatCell = (x, y, width) => [
      Math.min(this.links.length - 1, Math.floor(y / this.heatEach)),
      this.at(this.us(x, width)),
    ];
    on("heat", {
      tip: (x, y, width) => {
        const [link, step] = heatCell(x, y, width);
        const cell = link * this.n_steps + step;
        return (
          `${this.nameOf(link)} at ${time(step * this.step_us)}: load ${percent(this.load[cell] / 255)}, ` +
          `queue ${size((this.queue[cell] / 255) * this.queue_bytes)}, held back ${percent(this.paused[cell] / 255)}`
        );
      },
      click: (x, y, width) => {
        this.link = null;
        this.chooseLink(heatCell(x, y, width)[0]);
        setTime(this.us(x, width));
      },
    });
    const messageAt = (y) => this.messages[Math.floor(y / this.listEach)];
    on("list", {
      tip: (x, y) => {
        const m = messageAt(y);
        return m ? `message ${m.id}: host ${m.src} to host ${m.dst}, ${size(m.bytes)}, ` +
          (m.end_us === null ? "did not end" : time(m.end_us - m.start_us)) : "";
      },
      click: (x, y) => {
        const message = messageAt(y);
        if (message) this.choose(message);
      },
    });
    on("rate", { tip: (x, y, width) => time(this.us(x, width)), click: (x, y, width) => setTime(this.us(x, width)) });
    const taskAt = (x, y, width) => {
      const row = (this.laneRows || [])[Math.floor(y / 15)];
      if (!row) return null;
      const us = this.us(x, width);
      const task = row[0].tasks.find((t) => t[0] === row[1] && t[1] === row[2] && t[2] <= us && us <= t[3]);
      return task ? [row[0], task] : null;
    };
    on("lanes", {
      tip: (x, y, width) => {
        const found = taskAt(x, y, width);
        if (!found) return "";
        const [step, task] = found;
        const before = task[4] >= 0 ? step.tasks[task[4]] : null;
        return (
          `device ${task[0]}, ${step.names[task[1]]}: ${time(task[2])} to ${time(task[3])}` +
          (before ? `; it began when device ${before[0]} ended ${step.names[before[1]]}` : "")
        );
      },
      click: (x, y, width) => setTime(this.us(x, width)),
    });
  }
}

// ---- the page -----------------------------------------------------------------------------------

function drawKey() {
  const gradient = `linear-gradient(90deg, ${MAP.map((c) => `rgb(${c})`).join(", ")})`;
  element("key").innerHTML =
    `<span>load of a link: 0 <i style="width:70px;background:${gradient}"></i>100 %</span>` +
    `<span><i style="background:var(--held)"></i>held back by PFC</span>` +
    `<span><i style="background:var(--chosen)"></i>chosen</span>`;
}

function drawAll() {
  runs.forEach((run) => run.draw());
}

function play() {
  if (clock.timer) {
    clearInterval(clock.timer);
    clock.timer = 0;
  } else {
    clock.timer = setInterval(() => setTime(clock.us >= clock.endUs ? 0 : clock.us + clock.stepUs), 80);
  }
  element("play").textContent = clock.timer ? "stop" : "play";
}

function keys(event) {
  if (event.target === element("search")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const step = clock.stepUs * (event.shiftKey ? 10 : 1);
  const does = {
    ArrowRight: () => setTime(clock.us + step),
    ArrowLeft: () => setTime(clock.us - step),
    " ": play,
    n: () => runs.forEach((run) => run.next(1)),
    p: () => runs.forEach((run) => run.next(-1)),
    "/": () => element("search").focus(),
    "+": () => zoom(clock.us, 0.7),
    "-": () => zoom(clock.us, 1.4),
    0: () => move(0, clock.endUs),
    Escape: () => runs.forEach((run) => ((run.message = run.link = null), run.draw())),
  }[event.key];
  if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  does();
}

async function start() {
  const data = await unpacked(element("data").textContent);
  const place = element("runs");
  data.forEach((each) => runs.push(new Run(each, place, data.length > 1)));
  clock.endUs = Math.max(...runs.map((run) => run.n_steps * run.step_us));
  clock.toUs = clock.endUs;
  clock.stepUs = Math.min(...runs.map((run) => run.step_us));
  const slider = element("time");
  slider.max = clock.endUs;
  slider.step = clock.stepUs;
  slider.addEventListener("input", () => setTime(Number(slider.value)));
  element("play").addEventListener("click", play);
  element("help-button").addEventListener("click", (event) => {
    element("help").hidden = !element("help").hidden;
    event.target.setAttribute("aria-expanded", String(!element("help").hidden));
  });
  element("search").addEventListener("change", (event) => {
    const found = runs.map((run) => run.find(event.target.value));
    event.target.setCustomValidity(found.some(Boolean) || !event.target.value ? "" : "There is no such message or link.");
    event.target.reportValidity();
  });
  document.addEventListener("keydown", keys);
  window.addEventListener("resize", drawAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  drawKey();
  drawAll();
  setTime(clock.endUs / 4);
  window.ready = true;
}

start();

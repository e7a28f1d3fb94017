// Drawings in SVG: savings over time, what is held of a file, who calls whom.

import { h } from "./ui.js";
import { brief, number } from "./parts.js";


/** A round number at or above a value, for the top of an axis. */
export function ceiling(value) {
  if (value <= 0) return 1;
  const step = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((times) => times * step).find((top) => top >= value);
}

/** Bars of [{label, title, saved, sent}], saved on top of sent. */
export function bars(points, { height = 220, width = 720, label } = {}) {
  // As many units as there are pixels, so that letters keep their size.
  const WIDTH = Math.max(240, Math.min(width, innerWidth < 768 ? innerWidth - 56 : Infinity));
  const left = 46, right = 4, top = 8, bottom = 24;
  const most = ceiling(Math.max(...points.map((point) => point.saved + point.sent), 1));
  const y = (value) => top + (height - top - bottom) * (1 - value / most);
  const room = (WIDTH - left - right) / points.length;
  const wide = Math.min(38, room * 0.68);
  const every = Math.ceil(points.length / Math.max(1, Math.floor(WIDTH / 52)));
  return h("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label },
    [0, 0.25, 0.5, 0.75, 1].map((share) => [
      h("line", { class: "grid", x1: left, x2: WIDTH - right, y1: y(most * share), y2: y(most * share) }),
      h("text", { x: left - 8, y: y(most * share) + 4, "text-anchor": "end" }, brief(most * share)),
    ]),
    points.map((point, at) => {
      const x = left + room * at + (room - wide) / 2;
      const sent = height - bottom - y(point.sent);
      const saved = height - bottom - y(point.saved);
      return h("g", { key: point.key },
        h("rect", { class: "hit", x: left + room * at, y: top, width: room, height: height - top - bottom, rx: 4 },
          h("title", null, `${point.title}: ${number(point.saved)} tokens saved, ${number(point.sent)} sent`)),
        point.sent > 0 && h("rect", { class: "sent", x, y: y(point.sent), width: wide, height: sent, rx: 2, "pointer-events": "none" }),
        point.saved > 0 && h("rect", { class: "saved", x, y: y(point.sent + point.saved), width: wide, height: Math.max(0, saved - 1), rx: 2, "pointer-events": "none" }),
        at % every === 0 && h("text", { x: x + wide / 2, y: height - 6, "text-anchor": "middle" }, point.label));
    }));
}

/** Which lines of a file are held, and which of those are stale: a strip as long as the file. */
export function strip(total, held, stale, label) {
  const place = ([first, last]) => ({ x: ((first - 1) / total) * 1000, width: Math.max(4, ((last - first + 1) / total) * 1000) });
  return h("svg", { class: "strip", viewBox: "0 0 1000 12", preserveAspectRatio: "none", role: "img", "aria-label": label },
    h("rect", { class: "bed", x: 0, y: 0, width: 1000, height: 12, rx: 4 }),
    held.map((run) => h("rect", { class: "held", y: 0, height: 12, ...place(run) })),
    stale.map((run) => h("rect", { class: "stale", y: 0, height: 12, ...place(run) })));
}

/** Layers around a symbol: callers to the left, callees to the right. */
export function layers(nodes, edges, focus) {
  const layer = new Map([[focus, 0]]);
  for (const [from, into, step] of [["srcSymbolId", "dstSymbolId", 1], ["dstSymbolId", "srcSymbolId", -1]]) {
    let edge = [focus];
    while (edge.length) {
      const next = [];
      for (const id of edge) {
        for (const one of edges) {
          if (one[from] === id && !layer.has(one[into])) {
            layer.set(one[into], layer.get(id) + step);
            next.push(one[into]);
          }
        }
      }
      edge = next;
    }
  }
  const columns = new Map();
  for (const node of nodes) {
    const at = layer.get(node.symbolId) ?? 0;
    columns.set(at, [...(columns.get(at) ?? []), node]);
  }
  return [...columns.entries()].sort(([a], [b]) => a - b);
}

export function callGraph(nodes, edges, focus, open) {
  const wide = 168, high = 42, gapX = 44, gapY = 12, pad = 14;
  const columns = layers(nodes, edges, focus);
  const tallest = Math.max(...columns.map(([, members]) => members.length));
  const height = tallest * (high + gapY) - gapY + 2 * pad;
  const width = columns.length * (wide + gapX) - gapX + 2 * pad;
  const place = new Map();
  columns.forEach(([, members], column) => {
    const top = pad + (height - 2 * pad - (members.length * (high + gapY) - gapY)) / 2;
    members.forEach((node, row) => place.set(node.symbolId, { x: pad + column * (wide + gapX), y: top + row * (high + gapY) }));
  });
  const fit = (text, most) => (text.length > most ? `…${text.slice(1 - most)}` : text);
  const drawn = new Set();
  return h("svg", { class: columns.length <= 3 ? "graph fits" : "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Call graph: callers left, callees right" },
    edges.map((edge) => {
      const name = `${edge.srcSymbolId} ${edge.dstSymbolId}`;
      const from = place.get(edge.srcSymbolId), into = place.get(edge.dstSymbolId);
      if (!from || !into || drawn.has(name) || edge.srcSymbolId === edge.dstSymbolId) return null;
      drawn.add(name);
      const forward = into.x > from.x;
      const x1 = forward ? from.x + wide : from.x, x2 = forward ? into.x - 6 : into.x + wide + 6;
      const y1 = from.y + high / 2, y2 = into.y + high / 2, bend = (x2 - x1) / 2;
      const tip = forward ? `${x2},${y2 - 4} ${x2 + 6},${y2} ${x2},${y2 + 4}` : `${x2},${y2 - 4} ${x2 - 6},${y2} ${x2},${y2 + 4}`;
      return [
        h("path", { key: `e${name}`, class: edge.confidence < 0.6 ? "edge weak" : "edge", d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` },
          h("title", null, `${edge.reason}, confidence ${edge.confidence.toFixed(2)}`)),
        h("polygon", { key: `t${name}`, class: "tip", points: tip }),
      ];
    }),
    nodes.map((node) => {
      const { x, y } = place.get(node.symbolId);
      const here = node.symbolId === focus;
      const act = () => open(node);
      return h("g", {
        key: node.symbolId, class: here ? "node focus" : "node", tabindex: "0", role: "button",
        "aria-label": `${node.symbolLabel}, ${node.kind} in ${node.file} line ${node.span.startLine}`,
        transform: `translate(${x} ${y})`, onclick: act,
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            act();
          }
        },
      },
      h("rect", { width: wide, height: high, rx: 8 }),
      h("text", { x: 12, y: 18 }, fit(node.symbolLabel, 20)),
      h("text", { class: "where", x: 12, y: 33 }, fit(`${node.file}:${node.span.startLine}`, 24)));
    }));
}

// Health: what was checked, what is wrong, what helps.

import { ask, h, resource } from "./ui.js";
import { all, arrived, changed, health, live, sync } from "./state.js";
import { badge, card, command, counted, empty, facts, head, loading, number, shown } from "./parts.js";

const SAID = { ok: ["ok", "OK"], info: ["busy", "Note"], warn: ["warn", "Warning"], bad: ["bad", "Error"] };
const FOUND = { ok: ["ok", "OK"], note: ["busy", "Note"], wrong: ["bad", "Error"] };
const examined = resource(changed);
const WIRE = { connected: "connected", connecting: "connecting", waiting: "lost, reconnecting", refused: "refused" };

export function healthPage() {
  if (!arrived()) return [head("Health"), card(null, {}, loading(6))];
  const well = health();
  const order = ["bad", "warn", "info", "ok"];
  const checks = [...well.checks].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return [
    head("Health", "Checked by the server whenever something changes."),
    card("Checks", {},
      h("ul", { class: "list" }, checks.map((check) =>
        h("li", { key: check.name },
          h("div", { class: "item row" },
            h("div", { class: "grow" }, h("strong", null, check.name), h("div", { class: "soft small" }, check.text), check.hint && h("div", { class: "muted small" }, check.hint)),
            badge(...SAID[check.state])))))),
    card("Doctor", { acts: h("button", { class: "button small", disabled: examined.status === "loading", onclick: () => examined.load(() => ask("doctor")) }, examined.status === "loading" ? "Running…" : "Run all checks") },
      shown(examined, ({ findings }) => h("ul", { class: "list" }, findings.map((one, at) =>
        h("li", { key: at, "data-finding": one.state },
          h("div", { class: "item stack tight" },
            h("div", { class: "row spread" }, h("div", { class: "grow" }, h("strong", null, one.about), " ", h("span", { class: "soft" }, one.said)), badge(...(FOUND[one.state] ?? ["", one.state]))),
            one.fix && (one.fix.startsWith("holdfast ") ? command(one.fix) : h("span", { class: "small muted" }, one.fix)))))), undefined, 4)
        ?? empty("health", "Not run yet", "Checks everything that could be wrong: the home, the store, the index, the host and the settings of each agent.")),
    h("div", { class: "two" },
      card("This server", {}, h("div", { class: "inner" }, facts([
        ["Version", well.version], ["Python", well.python], ["Store", well.store], ["Home", h("code", null, well.home)],
        ["Live documents", h("code", null, live.name)],
        ["This page", WIRE[sync.state] ?? sync.state], ["Protocol", (sync.capabilities ?? []).join(", ")],
      ]))),
      card("Spaces", {}, h("div", { class: "over" }, h("table", { class: "table" },
        h("thead", null, h("tr", null, h("th", null, "Space"), h("th", { class: "r" }, "Commits"), h("th", { class: "r" }, "Branches"))),
        h("tbody", null, all("space").map((space) =>
          h("tr", { key: space.key }, h("td", null, space.name), h("td", { class: "r" }, number(space.seq)),
            h("td", { class: "r", title: counted(space.branches.length, "branch") }, number(space.branches.length))))))))),
  ];
}

// Health: what was checked, what is wrong, what helps.

import { h } from "./ui.js";
import { all, arrived, health, sync } from "./state.js";
import { badge, card, counted, facts, head, loading, moment, number, time } from "./parts.js";

const SAID = { ok: ["ok", "Well"], info: ["busy", "Note"], warn: ["warn", "Needs a look"], bad: ["bad", "Wrong"] };
const WIRE = { connected: "connected", connecting: "connecting", waiting: "lost, trying again", refused: "refused" };

export function healthPage() {
  if (!arrived()) return [head("Health"), card(null, {}, loading(6))];
  const well = health();
  const order = ["bad", "warn", "info", "ok"];
  const checks = [...well.checks].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return [
    head("Health", "Checked by the server each time something changes."),
    card("Checks", {},
      h("ul", { class: "list" }, checks.map((check) =>
        h("li", { key: check.name },
          h("div", { class: "item row" },
            h("div", { class: "grow" }, h("strong", null, check.name), h("div", { class: "soft small" }, check.text), check.hint && h("div", { class: "muted small" }, check.hint)),
            badge(...SAID[check.state])))))),
    h("div", { class: "two" },
      card("This server", {}, h("div", { class: "inner" }, facts([
        ["Version", well.version], ["Python", well.python], ["Store", well.store], ["Home", h("code", null, well.home)],
        ["Started", h("span", null, moment(well.startedAt), " (", time(well.startedAt), ")")],
        ["This page", WIRE[sync.state] ?? sync.state], ["Protocol", (sync.capabilities ?? []).join(", ")],
      ]))),
      card("Spaces", {}, h("div", { class: "over" }, h("table", { class: "table" },
        h("thead", null, h("tr", null, h("th", null, "Space"), h("th", { class: "r" }, "Commits"), h("th", { class: "r" }, "Branches"))),
        h("tbody", null, all("space").map((space) =>
          h("tr", { key: space.key }, h("td", null, space.name), h("td", { class: "r" }, number(space.seq)),
            h("td", { class: "r", title: counted(space.branches.length, "branch") }, number(space.branches.length))))))))),
  ];
}

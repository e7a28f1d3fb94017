// Tokens saved over time: what was sent, and what a plain read would have sent on top.

import { ask, h, resource } from "./ui.js";
import { all, arrived, changed, savings, to } from "./state.js";
import { brief, card, counted, empty, figure, head, loading, number, percent, segments, shown } from "./parts.js";
import { bars } from "./draw.js";

const MODES = {
  full: "in full",
  unchanged: "unchanged",
  unchanged_range: "range unchanged",
  diff: "as a diff",
  baseline_fallback: "plain again",
};
const state = { span: "days" };
const own = resource(changed);
const RULES = { unchanged: "unchanged", diff: "as a diff", unseen: "only new lines", focused: "folded" };
const DAY = 86_400_000;

const dayOf = (at) => {
  const when = new Date(at);
  return new Date(when.getFullYear(), when.getMonth(), when.getDate()).getTime();
};

/** Hours gathered into days, the last `most` of them, empty ones too. */
export function byDay(hours, most) {
  const days = new Map();
  for (const hour of hours) {
    const day = dayOf(hour.at);
    const point = days.get(day) ?? { saved: 0, sent: 0, reads: 0 };
    days.set(day, { saved: point.saved + hour.savedTokens, sent: point.sent + hour.sentTokens, reads: point.reads + hour.reads });
  }
  if (!days.size) return [];
  const last = Math.max(...days.keys());
  // At least a week, so that the first day is not a lonely bar.
  const first = Math.min(Math.max(Math.min(...days.keys()), last - (most - 1) * DAY), last - 6 * DAY);
  const points = [];
  for (let at = first; at <= last + DAY / 2; at += DAY) {
    const day = dayOf(at + DAY / 8);
    const when = new Date(day);
    points.push({
      key: day,
      label: when.toLocaleDateString("en-GB", { day: "numeric", month: "short" }),
      title: when.toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" }),
      ...(days.get(day) ?? { saved: 0, sent: 0, reads: 0 }),
    });
  }
  return points;
}

function byHour(hours) {
  return hours.slice(-36).map((hour) => {
    const when = new Date(hour.at);
    return {
      key: hour.at,
      label: when.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }),
      title: when.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }),
      saved: hour.savedTokens, sent: hour.sentTokens, reads: hour.reads,
    };
  });
}

const total = (rules) => Object.values(rules ?? {}).reduce((sum, tokens) => sum + tokens, 0);
const share = (part, whole) => `${((100 * part) / (whole || 1)).toFixed(1)} %`;

/** One agent's own sessions: what was read as a bar, with what was saved, could be, and must be sent. */
function agentRow(one) {
  const served = total(one.served), replayed = total(one.replayed), possible = served + one.bound;
  const name = one.subagents ? `${one.agent} subagents` : one.agent;
  const rules = Object.keys(RULES).map((rule) => [rule, (one.served[rule] ?? 0) + (one.replayed[rule] ?? 0)]).filter(([, tokens]) => tokens > 0);
  const part = (tokens, name, title) => h("i", { class: name, title: `${title}: ${number(tokens)} tokens`, style: { width: `${(100 * tokens) / (one.readTokens || 1)}%` } });
  return h("li", { key: name, "data-agent": name },
    h("div", { class: "item stack tight" },
      h("div", { class: "row spread" }, h("strong", null, name),
        h("span", { class: "num muted small" }, `${counted(one.contexts, "context")}, ${counted(one.reads, "read")}, ${brief(one.readTokens)} tokens`)),
      h("div", { class: "progress shares", role: "img", "aria-label": `${share(served, one.readTokens)} saved, ${share(replayed, one.readTokens)} more with Holdfast in every session, ${share(possible, one.readTokens)} at most` },
        part(served, "", "saved"), part(replayed, "again", "more with Holdfast in every session"), part(Math.max(0, possible - served - replayed), "left", "the rest of what is possible")),
      h("div", { class: "row wrap small soft" },
        h("span", null, `saved: ${share(served, one.readTokens)}`), h("span", null, `more with Holdfast in every session: ${share(replayed, one.readTokens)}`), h("span", null, `at most: ${share(possible, one.readTokens)}`),
        rules.map(([rule, tokens]) => h("span", { key: rule, class: "muted" }, `${RULES[rule]}: ${share(tokens, one.readTokens)}`))),
      h("div", { class: "small muted" },
        one.focus.folds ? `${counted(one.focus.folds, "fold")}, ${number(one.focus.reopened ?? 0)} reopened; ` : "",
        one.focus.possibleFolds ? `${counted(one.focus.possibleFolds, "long first read")} could be folded: ${share(one.focus.middle ?? 0, one.readTokens)} probably, ${share(one.focus.pessimistic ?? 0, one.readTokens)} at worst; ` : "",
        one.focus.advice)));
}

function ownCard() {
  const look = h("button", { class: "button small", disabled: own.status === "loading", onclick: () => own.load(() => ask("savings", { days: 14 })) },
    own.status === "loading" ? "Looking…" : "Look at my sessions");
  return card("Your own sessions, 14 days", { acts: look },
    shown(own, ({ agents, leftOut }) => agents.length
      ? [h("ul", { class: "list" }, agents.map(agentRow)), leftOut ? h("p", { class: "inner small muted" }, `${counted(leftOut, "older session")} left out`) : ""]
      : empty("savings", "No sessions with reads", "Nothing was found where agents keep their sessions."), undefined, 4)
      ?? empty("savings", "Not looked at yet", "Reads the logs of your agents and says what Holdfast saved, what it would have saved in every session, and what is possible at most. Nothing is sent anywhere."));
}

export const legend = () =>
  h("div", { class: "legend" }, h("span", null, h("i"), "Saved"), h("span", null, h("i", { class: "sent" }), "Sent"));

export function savingsPage() {
  if (!arrived()) return [head("Savings"), card(null, {}, loading(6))];
  const hours = savings();
  if (!hours.length) {
    return [head("Savings"), card(null, {}, empty("savings", "Nothing read yet", "Savings appear with the first read in a session.")), ownCard()];
  }
  const sum = (name) => hours.reduce((total, hour) => total + hour[name], 0);
  const saved = sum("savedTokens"), sent = sum("sentTokens"), reads = sum("reads");
  const modes = Object.keys(MODES).map((mode) => [mode, hours.reduce((total, hour) => total + (hour.modes[mode] ?? 0), 0)]);
  const points = state.span === "days" ? byDay(hours, 30) : byHour(hours);
  const sessions = all("session").sort((a, b) => b.savedTokens - a.savedTokens);
  return [
    head("Savings", "Estimated at four bytes to a token, from what each session's log says was sent.",
      segments("Span", state.span, [["days", "By day"], ["hours", "By hour"]], (span) => {
        state.span = span;
        changed();
      })),
    h("div", { class: "tiles" },
      figure("Saved", brief(saved), "tokens"), figure("Sent", brief(sent), "tokens"),
      figure("Less than plain reads", percent(saved, saved + sent), "of all tokens"), figure("Reads", number(reads), "answered")),
    card("Over time", { acts: legend() },
      h("div", { class: "inner" }, bars(points, { height: 250, width: 940, label: "Tokens saved and sent over time" }))),
    ownCard(),
    h("div", { class: "two" },
      card("By session", {},
        h("div", { class: "over" }, h("table", { class: "table" },
          h("thead", null, h("tr", null, h("th", null, "Session"), h("th", { class: "r" }, "Reads"), h("th", { class: "r" }, "Sent"), h("th", { class: "r" }, "Saved"))),
          h("tbody", null, sessions.map((session) =>
            h("tr", { key: session.key },
              h("td", null, h("a", { href: to("sessions", [session.key]) }, session.name)),
              h("td", { class: "r" }, number(session.reads)), h("td", { class: "r" }, brief(session.sentTokens)), h("td", { class: "r" }, brief(session.savedTokens)))))))),
      card("How reads were answered", {},
        h("div", { class: "inner stack tight" }, modes.map(([mode, count]) =>
          h("div", { key: mode },
            h("div", { class: "row spread small" }, h("span", null, MODES[mode]), h("span", { class: "num muted" }, counted(count, "read"))),
            h("div", { class: "progress" }, h("i", { style: { width: `${reads ? (100 * count) / reads : 0}%`, background: "var(--accent)" } }))))))),
  ];
}


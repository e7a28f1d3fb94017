// Holdfast for OpenCode. Nothing is decided here: what happens is passed to the background host, and
// its answer is put in place. Without an answer everything stays as OpenCode made it.
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const HOME = "";
const TOOLS = ["read", "bash", "edit", "write", "apply_patch", "patch"];

/*ask_host*/

// What the host looks at: tool calls with their results, not the rest of the conversation.
function use(part) {
	const { status, input, output, error, time } = part.state ?? {};
	return { id: part.callID, tool: part.tool, status, input, output, error, compacted: time?.compacted !== undefined };
}

// What was said lately, which tells what matters in a long file.
function said(messages) {
	const texts = [];
	let left = 60000;
	for (const message of messages.toReversed()) {
		for (const part of message.parts) {
			if (part.type !== "text" || part.synthetic || left <= 0) continue;
			texts.push([message.info?.role, part.text.slice(0, left)]);
			left -= part.text.length;
		}
	}
	return texts.reverse();
}

// By conversation, the number of its latest request that the host took in and answered in time.
const answered = new Map();
let asked = 0;

export const Holdfast = async ({ directory }) => ({
	"tool.execute.after": async (input, output) => {
		try {
			if (!TOOLS.includes(input.tool) || typeof output?.output !== "string") return;
			const answer = await askHost("opencode", {
				event: "tool", session: input.sessionID, cwd: directory, request: answered.get(input.sessionID),
				use: { id: input.callID, tool: input.tool, status: "completed", input: input.args, output: output.output, metadata: output.metadata },
			});
			if (typeof answer?.output === "string") output.output = answer.output;
		} catch {}
	},
	"experimental.chat.messages.transform": async (_input, output) => {
		try {
			const parts = output.messages.flatMap((message) => message.parts).filter((part) => part.type === "tool");
			const session = output.messages[0]?.info?.sessionID;
			if (session === undefined) return;
			const request = ++asked;
			answered.delete(session);
			const answer = await askHost("opencode", { event: "request", session, cwd: directory, request, uses: parts.map(use), said: said(output.messages) });
			for (const part of parts) {
				const found = answer?.uses?.[part.callID];
				// A copy: the original belongs to OpenCode's store.
				if (typeof found?.error === "string") part.state = { ...part.state, error: found.error };
				if (typeof found?.output === "string") part.state = { ...part.state, output: found.output };
			}
			if (answer?.request === request) answered.set(session, request);
		} catch {}
	},
	"experimental.session.compacting": async (input, output) => {
		try {
			const answer = await askHost("opencode", { event: "compacting", session: input.sessionID, cwd: directory });
			if (typeof answer?.context === "string") output.context.push(answer.context);
		} catch {}
	},
});

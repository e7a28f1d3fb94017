/**
 * Holdfast for pi: what the conversation already holds is not sent again, and a failed edit is
 * answered with the text that is there.
 *
 * Nothing is decided here. `read` asks the background host over the standard streams of
 * `holdfast mcp`; what the other tools answer, and every request before it is sent, is passed to the
 * host's socket. When the host cannot be asked, or says something we do not understand, everything
 * is as pi made it. Needs pi 0.73 or newer.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { createReadTool, createReadToolDefinition, type ExtensionAPI, type ExtensionContext, VERSION } from "@mariozechner/pi-coding-agent";
import { Type } from "typebox";

const COMMAND: string[] = ["holdfast"];
const COMMAND_MS = 10_000;
const START_MS = 60_000;
const CUSTOM_TYPE = "pi-readcache";
const HOME = "";
const WATCHED = ["bash", "edit", "write"];

/*ask_host*/

type Reply = { result?: any; error?: { message?: string } };

/** Since 0.75.5 pi's read does not count the empty line after a final newline. */
function isUncounted(version: string): boolean {
	const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
	return major > 0 || minor > 75 || (minor === 75 && patch >= 5);
}

/** A path that ends in a range of lines, for pi's own read, unless there is a file of that name. */
function withoutRange(cwd: string, given: { path: string; offset?: number; limit?: number }) {
	const { path: named, offset, limit } = given;
	const found = /^(.+):(\d+)(?:-(\d+))?$/.exec(named);
	if (found === null || offset !== undefined || limit !== undefined) return { path: named, offset, limit };
	if (fs.existsSync(path.resolve(cwd, named))) return { path: named, offset, limit };
	const [first, last] = [Number(found[2]), Number(found[3] ?? found[2])];
	if (first < 1 || last < first) return { path: named, offset, limit };
	return { path: found[1]!, offset: first, limit: last - first + 1 };
}

/** The value of a promise, unless it takes longer or the user stops the call. */
function inTime<T>(promise: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const late = setTimeout(() => reject(new Error("no answer in time")), ms);
		const stopped = () => reject(new Error("stopped"));
		if (signal?.aborted) stopped();
		signal?.addEventListener("abort", stopped, { once: true });
		promise.then(resolve, reject).finally(() => {
			clearTimeout(late);
			signal?.removeEventListener("abort", stopped);
		});
	});
}

/** One `holdfast mcp` for one session file. */
class Host {
	private child: ChildProcess | undefined;
	private waiting = new Map<number, (reply: Reply) => void>();
	private number = 0;
	private ready: Promise<void> | undefined;

	constructor(
		private cwd: string,
		private session: string | undefined,
	) {}

	/** Rejects without an answer in so many milliseconds, or when `signal` says to stop. */
	async call(name: string, args: Record<string, unknown>, meta: Record<string, unknown>, ms: number, signal?: AbortSignal): Promise<any> {
		const asked = this.start().then(() => this.ask("tools/call", { name, arguments: args, _meta: meta }, ms));
		const reply = await inTime(asked, ms, signal);
		if (reply.error !== undefined || reply.result === undefined) {
			throw new Error(reply.error?.message ?? "no answer");
		}
		return reply.result;
	}

	stop(): void {
		this.child?.kill();
		this.child = undefined;
		this.ready = undefined;
		for (const settle of this.waiting.values()) settle({ error: { message: "the host is gone" } });
		this.waiting.clear();
	}

	/** Starts it if it does not run; a start goes on when nobody waits for it any longer. */
	start(): Promise<void> {
		this.ready ??= this.greet().catch((error) => {
			this.stop();
			throw error;
		});
		return this.ready;
	}

	private async greet(): Promise<void> {
		const session = this.session === undefined ? [] : ["--session", this.session, "--host", "pi"];
		const child = spawn(COMMAND[0]!, [...COMMAND.slice(1), "mcp", ...session], {
			cwd: this.cwd,
			// Every fact: pi keeps them beside the result, and no model is shown them.
			env: { ...process.env, HOLDFAST_MCP_STRUCTURED: "full" },
			stdio: ["pipe", "pipe", "ignore"],
		});
		this.child = child;
		const gone = () => {
			if (this.child === child) this.stop();
		};
		child.on("error", gone);
		child.on("exit", gone);
		child.stdin!.on("error", gone);
		// Only a newline ends a message; a line reader would also split at U+2028 inside a text.
		let rest = "";
		child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
			const lines = (rest + piece).split("\n");
			rest = lines.pop()!;
			for (const line of lines) this.heard(line);
		});
		const reply = await this.ask("initialize", {
			protocolVersion: "2025-06-18",
			capabilities: {},
			clientInfo: { name: "pi", version: "1" },
		}, START_MS);
		if (reply.error !== undefined) throw new Error(reply.error.message ?? "refused");
		this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
	}

	private ask(method: string, params: unknown, ms: number): Promise<Reply> {
		const id = ++this.number;
		return new Promise((resolve) => {
			const late = setTimeout(() => {
				// What is answered after this was never shown.
				this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
				settle({ error: { message: "no answer in time" } });
			}, ms);
			const settle = (reply: Reply) => {
				clearTimeout(late);
				this.waiting.delete(id);
				resolve(reply);
			};
			this.waiting.set(id, settle);
			this.send({ jsonrpc: "2.0", id, method, params });
		});
	}

	private send(message: unknown): void {
		this.child?.stdin?.write(`${JSON.stringify(message)}\n`);
	}

	private heard(line: string): void {
		let message: any;
		try {
			message = JSON.parse(line);
		} catch {
			return;
		}
		if (typeof message?.id === "number") this.waiting.get(message.id)?.(message);
	}
}

export default function (pi: ExtensionAPI) {
	let host: Host | undefined;
	let key = "";

	/** The host for the session that is open now; another one after a switch or a fork. */
	function hostOf(ctx: ExtensionContext): Host {
		const session = ctx.sessionManager.getSessionFile();
		const wanted = `${ctx.cwd}\n${session ?? ""}`;
		if (host === undefined || key !== wanted) {
			host?.stop();
			host = new Host(ctx.cwd, session);
			key = wanted;
		}
		return host;
	}

	let known = { session: `pi-${process.pid}`, cwd: process.cwd() };
	/** The conversation and its folder; pi takes both away while it still sends a last request. */
	function placeOf(ctx: ExtensionContext) {
		try {
			known = { session: ctx.sessionManager.getSessionFile() ?? `pi-${process.pid}`, cwd: ctx.cwd };
		} catch {}
		return known;
	}

	const dialect = isUncounted(VERSION) ? { "holdfast/dialect": "uncounted" } : {};
	/** What the host has to know besides the arguments. */
	const metaOf = (leaf: string | null) => (leaf === null ? dialect : { ...dialect, "holdfast/leaf": leaf });
	/** The leaf at which the host gave no answer in time. */
	let unanswered: string | null | undefined;

	const text = (result: any): string =>
		(result?.content ?? [])
			.filter((block: any) => block?.type === "text")
			.map((block: any) => block.text)
			.join("\n");

	// What pi's system prompt says about `read` is said of the tool in its place, too.
	const { promptSnippet, promptGuidelines } = createReadToolDefinition(process.cwd());

	pi.registerTool({
		name: "read",
		label: "read",
		promptSnippet,
		promptGuidelines,
		description:
			"Read the contents of a file, or lines of it. Whatever you already hold is not sent again: the answer is the text, " +
			"a diff against what you read before, or one line saying it is unchanged. Long files are cut; use offset and limit " +
			"to go on. Use bypass_cache=true after an edit failed because its old text was not found.",
		parameters: Type.Object({
			path: Type.String({ description: "Path to the file (relative or absolute); may end in :N or :N-M for lines" }),
			offset: Type.Optional(Type.Number({ description: "Line number to start reading from (1-indexed)" })),
			limit: Type.Optional(Type.Number({ description: "Maximum number of lines to read" })),
			bypass_cache: Type.Optional(Type.Boolean({ description: "Send the plain text this time" })),
		}),
		async execute(toolCallId, params, signal, onUpdate, ctx) {
			let result: any;
			let leaf: string | null = null;
			const { cwd } = placeOf(ctx);
			try {
				leaf = ctx.sessionManager.getLeafId();
				if (unanswered === leaf) throw new Error("a read of this turn was not answered");
				result = await hostOf(ctx).call("read", params, metaOf(leaf), WAIT_MS, signal);
				if (unanswered === leaf) throw new Error("a read of this turn was not answered");
			} catch {
				// The host may believe that its answer was shown: no other read of this turn relies on it.
				unanswered = leaf;
				return createReadTool(cwd).execute(toolCallId, withoutRange(cwd, params), signal, onUpdate);
			}
			if (result.isError === true) throw new Error(text(result));
			const content = result.content.filter((block: any) => block?.type === "text" || block?.type === "image");
			return { content, details: result.structuredContent?.details ?? undefined };
		},
	});

	/** The session is pi's to write: the host says what to note, and pi notes it. */
	async function refresh(path: string, ctx: ExtensionContext, signal?: AbortSignal): Promise<string> {
		const meta = metaOf(ctx.sessionManager.getLeafId());
		const result = await hostOf(ctx).call("readcache_refresh", { path }, meta, COMMAND_MS, signal);
		const note = result.structuredContent?.note;
		if (result.isError === true || note === undefined) throw new Error(text(result) || "nothing to note");
		pi.appendEntry(CUSTOM_TYPE, note);
		return text(result);
	}

	pi.registerTool({
		name: "readcache_refresh",
		label: "refresh",
		description: "Have the next read of a file, or of lines of it, send the plain text again.",
		parameters: Type.Object({
			path: Type.String({ description: "Path to the file; may end in :N or :N-M for lines" }),
		}),
		async execute(_toolCallId, params, signal, _onUpdate, ctx) {
			const said = await refresh(params.path, ctx, signal);
			return { content: [{ type: "text", text: said }], details: undefined };
		},
	});

	pi.registerCommand("readcache-status", {
		description: "What this conversation holds and has saved",
		handler: async (_args, ctx) => {
			try {
				const meta = metaOf(ctx.sessionManager.getLeafId());
				ctx.ui.notify(text(await hostOf(ctx).call("readcache_status", {}, meta, COMMAND_MS)), "info");
			} catch (error) {
				ctx.ui.notify(`holdfast: ${(error as Error).message}; run: holdfast doctor`, "error");
			}
		},
	});

	pi.registerCommand("readcache-refresh", {
		description: "Have a file, or lines of it, sent again: PATH [START-END]",
		handler: async (args, ctx) => {
			try {
				ctx.ui.notify(await refresh(args.trim(), ctx), "info");
			} catch (error) {
				ctx.ui.notify(`holdfast: ${(error as Error).message}`, "error");
			}
		},
	});

	// By conversation, the number of its latest request that the host took in and answered in time.
	const answered = new Map<string, number>();
	let asked = 0;

	pi.on("tool_result", async (event: any, ctx) => {
		try {
			if (!WATCHED.includes(event.toolName)) return undefined;
			const { toolCallId: id, toolName: tool, input, content, isError } = event;
			const use = { id, tool, input, content, isError };
			const { session, cwd } = placeOf(ctx);
			const answer: any = await askHost("pi", { event: "tool", session, cwd, request: answered.get(session), use });
			if (typeof answer?.text !== "string") return undefined;
			return { content: [{ type: "text", text: answer.text }], details: event.details, isError };
		} catch {
			return undefined;
		}
	});

	pi.on("context", async (event: any, ctx) => {
		try {
			const inputs = new Map<string, unknown>();
			for (const message of event.messages) {
				if (message.role !== "assistant") continue;
				for (const block of message.content) if (block.type === "toolCall") inputs.set(block.id, block.arguments);
			}
			const uses = event.messages
				.filter((message: any) => message.role === "toolResult")
				.map(({ toolCallId: id, toolName: tool, content, isError, details }: any) => ({
					...{ id, tool, input: inputs.get(id), content, isError },
					readcache: details?.readcache, // what an answer of ours claims
				}));
			const [{ session, cwd }, request] = [placeOf(ctx), ++asked];
			answered.delete(session);
			const answer: any = await askHost("pi", { event: "request", session, cwd, request, uses });
			if (answer?.request === request) answered.set(session, request);
			if (answer?.uses === undefined) return undefined;
			const changed = (message: any) => {
				const text = message.role === "toolResult" ? answer.uses[message.toolCallId] : undefined;
				return typeof text === "string" ? { ...message, content: [{ type: "text", text }] } : message;
			};
			return { messages: event.messages.map(changed) };
		} catch {
			return undefined;
		}
	});

	pi.on("session_compact", async (_event: any, ctx) => {
		try {
			const answer: any = await askHost("pi", { event: "compacted", ...placeOf(ctx) });
			if (typeof answer?.message !== "string") return;
			pi.sendMessage({ customType: "holdfast", content: answer.message, display: false }, { triggerTurn: false });
		} catch {}
	});

	// Started before the first read, which does not wait for it.
	pi.on("session_start", async (_event: any, ctx) => {
		hostOf(ctx).start().catch(() => {});
	});

	pi.on("session_shutdown", async () => {
		host?.stop();
		host = undefined;
	});
}

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
import { createReadTool, createReadToolDefinition, type ExtensionAPI, type ExtensionContext } from "@mariozechner/pi-coding-agent";
import { Type } from "typebox";

const COMMAND: string[] = ["holdfast"];
const ANSWER_MS = 10_000;
const CUSTOM_TYPE = "pi-readcache";
const HOME = "";
const WATCHED = ["bash", "edit", "write"];

/*ask_host*/

type Reply = { result?: any; error?: { message?: string } };

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

	async call(name: string, args: Record<string, unknown>, meta: Record<string, unknown> = {}): Promise<any> {
		await this.start();
		const reply = await this.ask("tools/call", { name, arguments: args, _meta: meta });
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

	private start(): Promise<void> {
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
		});
		if (reply.error !== undefined) throw new Error(reply.error.message ?? "refused");
		this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
	}

	private ask(method: string, params: unknown): Promise<Reply> {
		const id = ++this.number;
		return new Promise((resolve) => {
			const late = setTimeout(() => settle({ error: { message: "no answer in time" } }), ANSWER_MS);
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
			try {
				const leaf = ctx.sessionManager.getLeafId();
				result = await hostOf(ctx).call("read", params, leaf === null ? {} : { "holdfast/leaf": leaf });
			} catch {
				const { path, offset, limit } = params;
				return createReadTool(ctx.cwd).execute(toolCallId, { path, offset, limit }, signal, onUpdate);
			}
			if (result.isError === true) throw new Error(text(result));
			const content = result.content.filter((block: any) => block?.type === "text" || block?.type === "image");
			return { content, details: result.structuredContent?.details ?? undefined };
		},
	});

	pi.registerCommand("readcache-status", {
		description: "What this conversation holds and has saved",
		handler: async (_args, ctx) => {
			try {
				const leaf = ctx.sessionManager.getLeafId();
				const meta = leaf === null ? {} : { "holdfast/leaf": leaf };
				ctx.ui.notify(text(await hostOf(ctx).call("readcache_status", {}, meta)), "info");
			} catch (error) {
				ctx.ui.notify(`holdfast: ${(error as Error).message}; run: holdfast doctor`, "error");
			}
		},
	});

	pi.registerCommand("readcache-refresh", {
		description: "Have a file, or lines of it, sent again: PATH [START-END]",
		handler: async (args, ctx) => {
			try {
				// The session is pi's to write: the host says what to note, and pi notes it.
				const leaf = ctx.sessionManager.getLeafId();
				const meta = leaf === null ? {} : { "holdfast/leaf": leaf };
				const result = await hostOf(ctx).call("readcache_refresh", { path: args.trim() }, meta);
				const note = result.structuredContent?.note;
				if (result.isError === true || note === undefined) throw new Error(text(result) || "nothing to note");
				pi.appendEntry(CUSTOM_TYPE, note);
				ctx.ui.notify(text(result), "info");
			} catch (error) {
				ctx.ui.notify(`holdfast: ${(error as Error).message}`, "error");
			}
		},
	});

	const sessionOf = (ctx: ExtensionContext): string => ctx.sessionManager.getSessionFile() ?? `pi-${process.pid}`;

	// By conversation, the number of its latest request that the host took in and answered in time.
	const answered = new Map<string, number>();
	let asked = 0;

	pi.on("tool_result", async (event: any, ctx) => {
		try {
			if (!WATCHED.includes(event.toolName)) return undefined;
			const { toolCallId: id, toolName: tool, input, content, isError } = event;
			const use = { id, tool, input, content, isError };
			const session = sessionOf(ctx);
			const answer: any = await askHost("pi", { event: "tool", session, cwd: ctx.cwd, request: answered.get(session), use });
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
				.map(({ toolCallId: id, toolName: tool, content, isError }: any) => ({ id, tool, input: inputs.get(id), content, isError }));
			const [session, request] = [sessionOf(ctx), ++asked];
			answered.delete(session);
			const answer: any = await askHost("pi", { event: "request", session, cwd: ctx.cwd, request, uses });
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
			const answer: any = await askHost("pi", { event: "compacted", session: sessionOf(ctx), cwd: ctx.cwd });
			if (typeof answer?.message !== "string") return;
			pi.sendMessage({ customType: "holdfast", content: answer.message, display: false }, { triggerTurn: false });
		} catch {}
	});

	pi.on("session_shutdown", async () => {
		host?.stop();
		host = undefined;
	});
}

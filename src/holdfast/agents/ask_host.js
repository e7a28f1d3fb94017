// Asks the background host: one line of JSON there, one back. Never throws, never waits longer than
// 300 ms, or what HOLDFAST_HOOK_S says; undefined means that the agent's own result stays as it is.
const HOOK_S = Number(process.env.HOLDFAST_HOOK_S);
const WAIT_MS = HOOK_S > 0 && HOOK_S < 3600 ? HOOK_S * 1000 : 300;
const SETTINGS = ["HOLDFAST_DATABASE_URL", "HOLDFAST_INDEX_URL", "HOLDFAST_INDEX_TOKEN",
	"HOLDFAST_INDEX_SECRET", "HOLDFAST_INDEX_NAMESPACE", "HOLDFAST_EMBEDDING", "HOLDFAST_EMBEDDING_URL",
	"HOLDFAST_EMBEDDING_MODEL", "HOLDFAST_EMBEDDING_DIMENSION", "OPENAI_API_KEY", "VOYAGE_API_KEY"];

function hostSocket() {
	const env = process.env;
	const folder = path.join(env.HOLDFAST_HOME || HOME || path.join(os.homedir(), ".holdfast"), "run");
	const chosen = env.HOLDFAST_EMBEDDING ? SETTINGS : SETTINGS.slice(0, -2);  // keys count with a provider
	const set = chosen.filter((name) => env[name]).map((name) => `${name}=${env[name]}`);
	const key = set.length === 0 ? "default" : createHash("sha256").update(set.join("\0")).digest("hex").slice(0, 12);
	const file = path.join(folder, `host-${key}.sock`);
	if (Buffer.byteLength(file) < 100 || process.platform !== "linux") return { file, close() {} };
	// The path of a socket may have some 100 bytes: reach it through the open folder.
	const opened = fs.openSync(folder, "r");
	return { file: `/proc/self/fd/${opened}/host-${key}.sock`, close: () => fs.closeSync(opened) };
}

function askHost(agent, payload) {
	return new Promise((resolve) => {
		let socket, place, late;
		let pieces = [];
		const settle = (answer) => {
			clearTimeout(late);
			try { socket?.destroy(); place?.close(); } catch {}
			place = undefined;
			resolve(answer);
		};
		try {
			place = hostSocket();
			late = setTimeout(() => settle(undefined), WAIT_MS);
			socket = net.connect(place.file);
			socket.on("connect", () => {
				// Not end(): under Bun closing one half loses the answer.
				socket.write(`${JSON.stringify({ holdfast: "hook", v: 1, agent, payload })}\n`);
			});
			socket.on("data", (piece) => {
				pieces.push(piece);
				if (piece[piece.length - 1] !== 10) return;
				try { settle(JSON.parse(Buffer.concat(pieces).toString("utf8"))); } catch { settle(undefined); }
			});
			socket.on("error", () => settle(undefined));
			socket.on("close", () => settle(undefined));
		} catch { settle(undefined); }
	});
}

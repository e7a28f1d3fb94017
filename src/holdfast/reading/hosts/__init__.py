"""One adapter per agent: a session log in, ordered visible events out."""

HOSTS = ("native", "pi", "claude-code", "codex", "opencode", "gemini", "qwen")

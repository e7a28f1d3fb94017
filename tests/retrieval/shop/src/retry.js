/** Call again with growing pauses until it works or attempts are used up. */
export async function withBackoff(action, attempts = 5, pauseMs = 50) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if (attempt >= attempts) throw error;
      await new Promise((wake) => setTimeout(wake, pauseMs * 2 ** attempt));
    }
  }
}

export function parseCurrency(text) {
  const match = /^([A-Z]{3})\s*(-?\d+)(?:\.(\d\d))?$/.exec(text);
  if (!match) throw new Error(`not an amount of money: ${text}`);
  return { currency: match[1], cents: Number(match[2]) * 100 + Number(match[3] ?? 0) };
}

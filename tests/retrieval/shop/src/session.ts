export interface Session {
  customer: string;
  expiresAt: number;
}

export class SessionStore {
  private open = new Map<string, Session>();

  login(token: string, customer: string, now: number): Session {
    const session = { customer, expiresAt: now + 30 * 60_000 };
    this.open.set(token, session);
    return session;
  }

  /** Forget everybody who has been away for too long. */
  sweep(now: number): number {
    let gone = 0;
    for (const [token, session] of this.open) {
      if (session.expiresAt <= now) {
        this.open.delete(token);
        gone++;
      }
    }
    return gone;
  }
}

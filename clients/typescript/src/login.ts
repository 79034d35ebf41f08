import { formatLoginMessage } from '../../../src/auth/login/login-message.ts';
import { type OracleAccount, requireAccount } from './account.ts';
import { ServiceProblem, TransportError } from './errors.ts';
import { readJson, type Send } from './http.ts';

/** A login without its token. `expiresAt` is ISO 8601. */
export interface Session {
  tier: 'basic' | 'premium';
  wallet: string;
  expiresAt: string;
}

interface TokenSession extends Session {
  token: string;
  expires_in: number;
}

/** The service announces the end of a token a minute before: then there must be a new one already. */
const RENEW_BEFORE_MS = 90_000;
const MAX_ATTEMPTS = 3;
const MAX_SPREAD_MS = 1_000;

/**
 * Sessions of one wallet at one service, each renewed before it ends. The signed text, `Verify svc balance: <wallet>:<timestamp>`, names no
 * service: a service that receives the signature can log in with it elsewhere for 5 minutes.
 */
export class WalletLogin {
  readonly #url: string;
  readonly #send: Send;
  readonly #account: OracleAccount | undefined;
  #session: Promise<TokenSession> | null = null;
  #renewAt = 0;
  #lastTimestamp = 0;

  constructor(url: string, send: Send, account: OracleAccount | undefined) {
    this.#url = url;
    this.#send = send;
    this.#account = account;
  }

  /** A token that is valid for at least a minute. @throws ServiceProblem TIER_REQUIRED below Basic, UNAUTHENTICATED; OracleError CONFIG_INVALID */
  async token(): Promise<string> {
    return (await this.#current()).token;
  }

  async session(): Promise<Session> {
    const { tier, wallet, expiresAt } = await this.#current();
    return { tier, wallet, expiresAt };
  }

  /** Drops a token that the service has rejected, unless it has been renewed meanwhile. */
  async forget(token: string): Promise<void> {
    const session = this.#session;
    const current = await session?.catch(() => null);
    if (current?.token === token && this.#session === session) this.#session = null;
  }

  /** Ends the session at the service; without one does nothing. */
  async logOut(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    this.#session = null;
    if (session == null) return;
    const headers = { Authorization: `Bearer ${session.token}`, Accept: 'application/json' };
    await readJson(await this.#send(new Request(`${this.#url}/api/svc/oracle/session`, { method: 'DELETE', headers })));
  }

  #current(): Promise<TokenSession> {
    if (this.#session === null || performance.now() >= this.#renewAt) {
      this.#renewAt = Number.POSITIVE_INFINITY;
      this.#session = this.#logIn();
      this.#session.catch(() => {
        this.#session = null;
      });
    }
    return this.#session;
  }

  async #logIn(): Promise<TokenSession> {
    for (let attempt = 1; ; attempt++) {
      try {
        const session = await this.#attempt();
        this.#renewAt = performance.now() + session.expires_in * 1_000 - RENEW_BEFORE_MS;
        return session;
      } catch (error) {
        if (!(error instanceof ServiceProblem) || error.code !== 'CONFLICT' || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  async #attempt(): Promise<TokenSession> {
    const account = requireAccount(this.#account, 'signMessage');
    // A signature opens one session: another process of this wallet may log in within the same millisecond.
    const timestamp = Math.max(Date.now(), this.#lastTimestamp + 1 + Math.floor(Math.random() * MAX_SPREAD_MS));
    this.#lastTimestamp = timestamp;
    const wallet = account.address;
    const signature = await account.signMessage({ message: formatLoginMessage(wallet, timestamp) });
    const request = new Request(`${this.#url}/api/svc/oracle/verify`, {
      method: 'POST',
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: JSON.stringify({ wallet, signature, timestamp }),
    });
    return parseSession(await readJson(await this.#send(request)));
  }
}

function parseSession(answer: unknown): TokenSession {
  const { token, tier, wallet, expiresAt, expires_in } = answer as Partial<TokenSession>;
  const isSession = [token, tier, wallet, expiresAt].every((text) => typeof text === 'string') && typeof expires_in === 'number';
  if (!isSession) throw new TransportError('The response to the login has no token: is this the address of the service?');
  return answer as TokenSession;
}

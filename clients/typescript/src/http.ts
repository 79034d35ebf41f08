import { formatLoginMessage } from '../../../src/auth/login-message.ts';
import type { TransferTypedData } from '../../../src/commerce/payment-signer.ts';
import { OracleError, ServiceProblem, TransportError, toServiceProblem } from './errors.ts';

/** Sends a request and returns a response of any status, read to its end. @throws TransportError; the reason of the request's signal */
export type Send = (request: Request) => Promise<Response>;

export interface HttpOptions {
  /** In place of the global one, such as a client with a proxy. */
  fetch?: Send | undefined;
  /** Of a request with its body; default 10,000. */
  timeoutMs?: number | undefined;
  /** Of a body; default 16,000,000. */
  maxBytes?: number | undefined;
}

const BODILESS_STATUSES = [204, 205, 304];

/** Without redirects, which could lead a token to another host; with limits of time and size. */
export function createSend({ fetch = globalThis.fetch, timeoutMs = 10_000, maxBytes = 16_000_000 }: HttpOptions): Send {
  return async (request) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const { status, statusText, headers, body } = await fetch(new Request(request, { signal, redirect: 'error' }));
      const content = BODILESS_STATUSES.includes(status) ? null : await readBytes(body, maxBytes);
      return new Response(content, { status, statusText, headers });
    } catch (cause) {
      if (request.signal.aborted) throw request.signal.reason;
      throw cause instanceof OracleError ? cause : toTransportError(request, cause);
    }
  };
}

async function readBytes(body: ReadableStream<Uint8Array<ArrayBuffer>> | null, maxBytes: number): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new TransportError(`The response has more than ${maxBytes} bytes: raise maxBytes, or ask for less`);
    chunks.push(chunk);
  }
  return new Blob(chunks);
}

function toTransportError({ method, url }: Request, cause: unknown): TransportError {
  const { origin, pathname } = new URL(url);
  const because = cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause);
  return new TransportError(`${method} ${pathname} at ${origin} failed: ${because}`, { cause });
}

/** JSON of a successful response. @throws ServiceProblem for another status; TransportError for other content */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  const body = parseJson(text);
  if (!response.ok) throw toServiceProblem(response, body);
  if (body === undefined) throw new TransportError('The response is not JSON: is this the address of the service?');
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address of a service without a slash at its end. @throws OracleError CONFIG_INVALID */
export function parseServiceUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.search === '' && parsed.hash === '') return url.replace(/\/+$/, '');
  throw new OracleError('CONFIG_INVALID', `url must be an http or https address such as https://oracle.example.org, not ${url}`, {
    field: 'url',
  });
}

const DECIMALS = 6;

/** Millionths of a dollar, exactly. @throws OracleError INPUT_INVALID */
export function parseUsd(field: string, text: string): bigint {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(String(text)) ?? [];
  const micros = whole === undefined || typeof text !== 'string' ? 0n : BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  if (micros > 0n) return micros;
  throw new OracleError('INPUT_INVALID', `${field} must be a positive amount of US dollars as text, such as '0.002'`, { field });
}

export function formatUsd(micros: bigint): string {
  const digits = micros.toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, '');
}

/** What a request is authorized with: an API key, or the session of a wallet. */
export interface Credentials {
  token(): Promise<string>;
  /** @returns whether `token` may return another one */
  forget(token: string): Promise<boolean>;
}

export function createCredentials(apiKey: string | undefined, login: WalletLogin): Credentials {
  if (apiKey !== undefined) return { token: async () => apiKey, forget: async () => false };
  return { token: () => login.token(), forget: (token) => login.forget(token).then(() => true) };
}

/**
 * Adds credentials to requests. An API key goes with each; a wallet logs in for operations that answer 401 only, so that reads of public data
 * stay anonymous and an account may be there for payments alone. A rejected token is replaced once.
 */
export function createAuthorizedSend(send: Send, credentials: Credentials, mode: 'always' | 'on-401' | 'never'): Send {
  if (mode === 'never') return send;
  const gated = new Set<string>();
  return async (request) => {
    if (request.headers.has('Authorization')) return send(request);
    const operation = `${request.method} ${new URL(request.url).pathname}`;
    const isGated = mode === 'always' || gated.has(operation);
    const token = isGated ? await credentials.token() : undefined;
    const response = await send(withToken(request.clone(), token));
    if (response.status !== 401 || (token !== undefined && !(await credentials.forget(token)))) return response;
    gated.add(operation);
    return send(withToken(request, await credentials.token()));
  };
}

function withToken(request: Request, token: string | undefined): Request {
  if (token !== undefined) request.headers.set('Authorization', `Bearer ${token}`);
  return request;
}

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

type Hex = `0x${string}`;

/** A wallet: any account of viem, or its address with the functions that it needs. Keys stay where they are. */
export interface OracleAccount {
  address: Hex;
  /** EIP-191, for a login. */
  signMessage?(message: { message: string }): Promise<Hex>;
  /** EIP-712, for a payment. */
  signTypedData?(data: TransferTypedData): Promise<Hex>;
}

type AccountWith<Method extends 'signMessage' | 'signTypedData'> = OracleAccount & Required<Pick<OracleAccount, Method>>;

/** @throws OracleError CONFIG_INVALID for a missing account or function */
export function requireAccount<Method extends 'signMessage' | 'signTypedData'>(
  account: OracleAccount | undefined,
  method: Method,
): AccountWith<Method> {
  if (account?.[method] !== undefined) return account as AccountWith<Method>;
  const purpose = method === 'signMessage' ? 'a login' : 'a payment';
  throw new OracleError('CONFIG_INVALID', `account.${method} is required for ${purpose}`, {
    field: 'account',
    suggestedAction: 'Pass an account of viem to createOracleClient, such as privateKeyToAccount(key).',
  });
}

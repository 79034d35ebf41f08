/** Client of the public API; the page uses no other. */

interface ApiProblemOptions {
  code: string;
  detail: string;
  suggestedAction?: string;
  retryAfterSeconds?: number;
  [fact: string]: unknown;
}

/** Problem details (RFC 9457) of the service, or the failure to reach it. */
export class ApiProblem extends Error {
  readonly code: string;
  readonly suggestedAction: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** Extension members, such as `field` or `balance`. */
  readonly facts: Record<string, unknown>;

  constructor({ code, detail, suggestedAction, retryAfterSeconds, ...facts }: ApiProblemOptions) {
    super(detail);
    this.code = code;
    this.suggestedAction = suggestedAction;
    this.retryAfterSeconds = retryAfterSeconds;
    this.facts = facts;
  }
}

const TIMEOUT_MS = 20_000;
/** Of one request; each is until the limit of a minute ends, as the service says. */
const MAX_LIMIT_WAITS = 20;
const MAX_LIMIT_WAIT_SECONDS = 90;

const limitListeners = new Set<(until: Date | null) => void>();
let limitedUntil: Date | null = null;

/** Calls the listener with the end of the wait for the rate limit, now and on every change; null: nothing waits. */
export function watchLimitWait(listener: (until: Date | null) => void): () => void {
  limitListeners.add(listener);
  listener(limitedUntil);
  return () => void limitListeners.delete(listener);
}

function setLimitedUntil(until: Date | null) {
  limitedUntil = until;
  for (const listener of limitListeners) listener(until);
}

/** Waits for the end of a rate limit, by `Retry-After`. @throws the reason of `signal` */
async function waitForLimit(retryAfterSeconds: number, signal?: AbortSignal): Promise<void> {
  // At the same moment for all requests that wait, and a moment later for each, so that they do not come at once.
  const until = new Date(Date.now() + 1_000 * Math.min(MAX_LIMIT_WAIT_SECONDS, Math.max(1, retryAfterSeconds)));
  if (limitedUntil === null || limitedUntil < until) setLimitedUntil(until);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, until.getTime() - Date.now() + 500 * Math.random());
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
  if (limitedUntil !== null && limitedUntil.getTime() <= Date.now()) setLimitedUntil(null);
  signal?.throwIfAborted();
}

/**
 * Sends a request to the service. One that reads waits where it exceeds the rate limit.
 * @param path relative to the base URL
 * @returns JSON body of a success
 * @throws {ApiProblem}
 */
export async function requestApi<Answer = unknown>(
  path: string,
  { token, method = 'GET', body }: { token?: string | null; method?: string; body?: unknown } = {},
): Promise<Answer> {
  const headers = {
    accept: 'application/json',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const request = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  const response = await (method === 'GET' ? sendWithinLimit(() => fetchFromService(path, request)) : fetchFromService(path, request));
  const answer = await response.json().catch(() => null);
  // Public resources are served as anonymous when the token is rejected (RFC 6750, section 3.1).
  if (token && response.ok && response.headers.get('www-authenticate')?.includes('error="invalid_token"'))
    throw new ApiProblem({ code: 'UNAUTHENTICATED', detail: 'The access token has expired or is not valid', field: 'Authorization' });
  if (response.ok && answer !== null) return answer;
  throw toApiProblem(response, answer);
}

/** Sends a request again while the rate limit rejects it, each time after the wait that the response asks for. @throws the reason of `signal` */
export async function sendWithinLimit(send: () => Promise<Response>, signal?: AbortSignal): Promise<Response> {
  for (let waits = 0; ; waits++) {
    const response = await send();
    const seconds = Number(response.headers.get('retry-after'));
    if (response.status !== 429 || !(seconds > 0) || waits === MAX_LIMIT_WAITS) return response;
    await response.body?.cancel();
    await waitForLimit(seconds, signal);
  }
}

/** @throws {ApiProblem} when there is no response */
export async function fetchFromService(path: string, request: RequestInit) {
  try {
    return await fetch(new URL(path, document.baseURI), { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw new ApiProblem({ code: 'UNREACHABLE', detail: `The service does not answer (${(cause as Error).name})` });
  }
}

export function toApiProblem(response: Response, answer: ApiProblemOptions | null) {
  const retryAfterSeconds = Number(response.headers.get('retry-after')) || undefined;
  if (typeof answer?.detail === 'string') return new ApiProblem({ ...answer, retryAfterSeconds });
  return new ApiProblem({ code: 'UNREACHABLE', detail: `The service answers with status ${response.status}`, retryAfterSeconds });
}

/** The login session of this tab, until its token expires. */

const SESSION_STORAGE_KEY = 'oracle-session';

export interface LoginSession {
  token: string;
  wallet: string;
  tier: string;
  expiresAt: string;
}

export type Session = ReturnType<typeof createSession>;

export function createSession(storage = sessionStorage) {
  const listeners = new Set<(current: LoginSession | null) => void>();
  const onRenewed = new Set<(current: LoginSession | null) => void>();
  let current: LoginSession | null = readJson(storage, SESSION_STORAGE_KEY);
  let hasEnded = false;

  const now = () => (current !== null && Date.parse(current.expiresAt) > Date.now() ? current : null);

  function change(next: LoginSession | null, byItself: boolean = false) {
    const isRenewed = next !== null && getReaderKey(next) === getReaderKey(now());
    [current, hasEnded] = [next, byItself];
    if (next === null) storage.removeItem(SESSION_STORAGE_KEY);
    else storage.setItem(SESSION_STORAGE_KEY, JSON.stringify(next));
    notifyAll(isRenewed ? onRenewed : listeners, next);
  }

  return {
    /** @returns null when anonymous or expired */
    get current(): LoginSession | null {
      return now();
    },
    /** Whether the last session expired or was rejected. */
    get hasEnded() {
      return hasEnded;
    },
    /** @param next null on logout */
    set: (next: LoginSession | null) => change(next),
    /** The token has expired or was rejected. */
    end: () => change(null, true),
    /** @param listener called when the same wallet and tier continue with a new token */
    onRenewal(listener: (current: LoginSession | null) => void) {
      onRenewed.add(listener);
    },
    /** @param listener called on login and logout */
    onChange(listener: (current: LoginSession | null) => void) {
      listeners.add(listener);
    },
  };
}

/** Readers with the same key get the same responses. */
function getReaderKey(session: LoginSession | null) {
  return session && `${session.wallet.toLowerCase()} ${session.tier}`;
}

/** What was stored as JSON; null without it, or where another version of the page has written it. */
export function readJson<T>(storage: Pick<Storage, 'getItem'>, key: string): T | null {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/** Notifies each listener; an error in one is reported and does not affect the others. */
export function notifyAll<T>(listeners: Iterable<(what: T) => void>, what: T) {
  for (const listener of listeners) {
    try {
      listener(what);
    } catch (error) {
      reportError(error);
    }
  }
}

import { formatCount } from '../lib/format.ts';
import { ApiProblem, requestApi } from '../state/api.ts';
import type { LoginSession } from '../state/session.ts';
import type { Provider } from './wallets.ts';

export type ShowStatus = (message: string, isProblem?: boolean) => void;

/** Provider error codes (EIP-1193, EIP-1474). */
export const USER_REJECTED_REQUEST = 4001;
const REQUEST_PENDING = -32002;

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** A failed login; the message is shown to the reader. */
export class LoginError extends Error {}

/**
 * Signs `Verify svc balance: <wallet>:<timestamp>`, which moves no funds.
 * @param onStage current step
 * @param preferred account to use if the wallet offers it; otherwise the first
 * @throws {LoginError}
 */
export async function logInWith(
  provider: Provider,
  onStage: (stage: 'connect' | 'sign' | 'check') => void,
  preferred?: string,
): Promise<LoginSession> {
  try {
    onStage('connect');
    const wallet = await requestAccount(provider, preferred);
    onStage('sign');
    const timestamp = Date.now();
    const text = toHex(`Verify svc balance: ${wallet}:${timestamp}`);
    const signature = await provider.request({ method: 'personal_sign', params: [text, wallet] });
    onStage('check');
    return toSession(await requestApi<LoginSession>('api/svc/oracle/verify', { method: 'POST', body: { wallet, signature, timestamp } }));
  } catch (error) {
    throw toLoginError(error);
  }
}

export async function requestAccount(provider: Provider, preferred?: string): Promise<string> {
  const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as readonly unknown[];
  const account = accounts.find((one) => isSameAccount(one, preferred)) ?? accounts[0];
  if (typeof account !== 'string' || !ADDRESS_PATTERN.test(account)) throw new LoginError('The wallet returned no account.');
  return account;
}

/** Logs a demo wallet of a local chain in, which signs in the service. @throws {LoginError} */
export async function logInAsDemo(role: string): Promise<LoginSession> {
  try {
    return toSession(await requestApi<LoginSession>('api/demo/login', { method: 'POST', body: { role } }));
  } catch (error) {
    throw toLoginError(error);
  }
}

/** Starts a session with a token issued elsewhere, after the service has accepted it. @throws {LoginError} */
export async function logInWithToken(text: string): Promise<LoginSession> {
  const token = text.trim().replace(/^Bearer\s+/i, '');
  const session = parseTokenClaims(token);
  if (session === null) throw new LoginError('This is not an access token: it must have three parts separated by dots.');
  if (Date.parse(session.expiresAt) <= Date.now()) throw new LoginError('This token has expired. Tokens last 30 minutes.');
  try {
    await requestApi('api/svc/info', { token });
    return session;
  } catch (error) {
    throw toLoginError(error);
  }
}

/** @throws {ApiProblem} */
export function endSession({ token }: LoginSession) {
  return requestApi('api/svc/oracle/session', { method: 'DELETE', token });
}

interface AttemptLoginOptions {
  login: (say: ShowStatus) => Promise<LoginSession>;
  counts: () => boolean;
  say: ShowStatus;
  onDone: (session: LoginSession) => void;
  isByToken?: boolean;
}

/**
 * Runs a login and reports its status while `counts()` holds. A wallet session that completes later is ended at once, as nothing uses it.
 */
export async function attemptLogin({ login, counts, say, onDone, isByToken }: AttemptLoginOptions) {
  const sayIfItCounts: ShowStatus = (message, isProblem) => counts() && say(message, isProblem);
  try {
    const session = await login(sayIfItCounts);
    if (counts()) onDone(session);
    else if (!isByToken) await endSession(session);
  } catch (error) {
    if (error instanceof LoginError) sayIfItCounts(error.message, true);
    // If the service cannot be reached, the session expires by itself.
    else if (!(error instanceof ApiProblem)) throw error;
  }
}

export function isSameAccount(one: unknown, other: string | undefined) {
  return String(one).toLowerCase() === other?.toLowerCase();
}

function toSession({ token, wallet, tier, expiresAt }: LoginSession): LoginSession {
  return { token, wallet, tier, expiresAt };
}

/** Unverified claims; the service verifies the token. */
function parseTokenClaims(token: string): LoginSession | null {
  try {
    const [, payload, signature] = token.split('.');
    if (!signature || !/^[\w.-]{1,2048}$/.test(token)) return null;
    const { sub, tier, exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return ADDRESS_PATTERN.test(sub) ? { token, wallet: sub, tier: String(tier), expiresAt: new Date(exp * 1_000).toISOString() } : null;
  } catch {
    return null;
  }
}

export function toLoginError(error: unknown) {
  if (error instanceof LoginError) return error;
  const message = error instanceof ApiProblem ? formatLoginProblem(error) : formatWalletError(error as { code?: number });
  return new LoginError(message, { cause: error });
}

function formatLoginProblem({ code, message, suggestedAction, retryAfterSeconds, facts }: ApiProblem) {
  if (code === 'TIER_REQUIRED') return formatBalanceTooLow(facts);
  if (code === 'RATE_LIMITED') return `Too many attempts. Try again in ${retryAfterSeconds ?? 60} seconds.`;
  if (code === 'UNAUTHENTICATED' && facts.field === 'timestamp') return formatClockSkew(facts);
  if (code === 'UNAUTHENTICATED' && facts.field === 'Authorization') return `The service rejects this token: ${message}.`;
  return `${message}. ${suggestedAction ?? ''}`.trim();
}

function formatBalanceTooLow({ balance, requiredBalance }: Record<string, unknown>) {
  const required = Number(requiredBalance);
  const held = Math.floor(Number(balance ?? 0));
  return `This wallet holds ${formatCount(held)} gate tokens; the Basic tier requires ${formatCount(required)}. ${formatCount(required - held)} are missing.`;
}

function formatClockSkew({ serverTime }: Record<string, unknown>) {
  const minutes = Math.round((Date.now() - Date.parse(String(serverTime))) / 60_000);
  const off = `${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'}`;
  return `The clock of this device is ${off} that of the service, and at most 5 minutes are allowed. Correct it and sign again.`;
}

export function formatWalletError({ code }: { code?: number }) {
  if (code === USER_REJECTED_REQUEST) return 'You declined in the wallet. Nothing was signed or sent.';
  if (code === REQUEST_PENDING) return 'A request is already open in the wallet. Answer it there.';
  return 'The wallet did not sign. Unlock it and try again, or use another wallet.';
}

/** Hex-encoded UTF-8, as `personal_sign` takes it. */
export function toHex(text: string) {
  return `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

import { formatCount } from '../lib/format.js';
import { ApiProblem, requestApi } from '../state/api.js';

/** @import { LoginSession } from '../state/session.js' */
/** @import { Provider } from './wallets.js' */

/** @typedef {(words: string, isProblem?: boolean) => void} ShowStatus */

/** What wallets answer with (EIP-1193, EIP-1474). */
const USER_REJECTED_REQUEST = 4001;
const REQUEST_PENDING = -32002;

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** Who logs in did not get a session, and why, in words for him. */
export class LoginError extends Error {}

/**
 * Logs in with a wallet: it signs `Verify svc balance: <wallet>:<timestamp>`, which moves nothing and costs nothing.
 * @param {Provider} provider
 * @param {(stage: 'connect' | 'sign' | 'check') => void} onStage what is waited for
 * @param {string} [preferred] the account to go on with where it is among those that the wallet names; else its first
 * @returns {Promise<LoginSession>}
 * @throws {LoginError}
 */
export async function logInWith(provider, onStage, preferred) {
  try {
    onStage('connect');
    const accounts = await provider.request({ method: 'eth_requestAccounts' });
    const wallet = accounts.find((/** @type {unknown} */ account) => isSameAccount(account, preferred)) ?? accounts[0];
    if (typeof wallet !== 'string' || !ADDRESS_PATTERN.test(wallet)) throw new LoginError('The wallet has named no account.');
    onStage('sign');
    const timestamp = Date.now();
    const message = `Verify svc balance: ${wallet}:${timestamp}`;
    const signature = await provider.request({ method: 'personal_sign', params: [textToHex(message), wallet] });
    onStage('check');
    return toSession(await requestApi('api/svc/oracle/verify', { method: 'POST', body: { wallet, signature, timestamp } }));
  } catch (error) {
    throw toLoginError(error);
  }
}

/**
 * Goes on with a token that was issued elsewhere, after the service has taken it.
 * @param {string} text
 * @returns {Promise<LoginSession>}
 * @throws {LoginError}
 */
export async function logInWithToken(text) {
  const token = text.trim().replace(/^Bearer\s+/i, '');
  const session = parseTokenClaims(token);
  if (session === null) throw new LoginError('This is no access token: it has three parts with a dot between them.');
  if (Date.parse(session.expiresAt) <= Date.now()) throw new LoginError('This token has expired: tokens last 30 minutes.');
  try {
    await requestApi('api/svc/info', { token });
    return session;
  } catch (error) {
    throw toLoginError(error);
  }
}

/** Ends the session at the service. @param {LoginSession} session @throws {ApiProblem} */
export function endSession({ token }) {
  return requestApi('api/svc/oracle/session', { method: 'DELETE', token });
}

/**
 * One login, which says what it is at as long as it counts. A session that a wallet gets once it counts no more is ended: nobody has it.
 * @param {{
 *   login: (say: ShowStatus) => Promise<LoginSession>, counts: () => boolean, say: ShowStatus, onDone: (session: LoginSession) => void, isByToken?: boolean,
 * }} options
 */
export async function attemptLogin({ login, counts, say, onDone, isByToken }) {
  /** @type {ShowStatus} */
  const sayIfItCounts = (words, isProblem) => counts() && say(words, isProblem);
  try {
    const session = await login(sayIfItCounts);
    if (counts()) onDone(session);
    else if (!isByToken) await endSession(session);
  } catch (error) {
    if (error instanceof LoginError) sayIfItCounts(error.message, true);
    // Where the service cannot be told, the session ends by itself.
    else if (!(error instanceof ApiProblem)) throw error;
  }
}

/** @param {unknown} one @param {string | undefined} other */
export function isSameAccount(one, other) {
  return String(one).toLowerCase() === other?.toLowerCase();
}

/** @param {LoginSession} answer @returns {LoginSession} */
function toSession({ token, wallet, tier, expiresAt }) {
  return { token, wallet, tier, expiresAt };
}

/**
 * What a token says of itself; whether it is true the service decides.
 * @param {string} token
 * @returns {LoginSession | null}
 */
function parseTokenClaims(token) {
  try {
    const [, payload, signature] = token.split('.');
    if (!signature || !/^[\w.-]{1,2048}$/.test(token)) return null;
    const { sub, tier, exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return ADDRESS_PATTERN.test(sub) ? { token, wallet: sub, tier: String(tier), expiresAt: new Date(exp * 1_000).toISOString() } : null;
  } catch {
    return null;
  }
}

/** @param {unknown} error */
function toLoginError(error) {
  if (error instanceof LoginError) return error;
  return new LoginError(error instanceof ApiProblem ? formatLoginProblem(error) : formatWalletError(/** @type {any} */ (error)));
}

/** @param {ApiProblem} problem */
function formatLoginProblem({ code, message, suggestedAction, retryAfterSeconds, facts }) {
  if (code === 'TIER_REQUIRED') return formatBalanceTooLow(facts);
  if (code === 'RATE_LIMITED') return `Too many attempts. Try again in ${retryAfterSeconds ?? 60} seconds.`;
  if (code === 'UNAUTHENTICATED' && facts.field === 'timestamp') return formatClockSkew(facts);
  if (code === 'UNAUTHENTICATED' && facts.field === 'Authorization') return `The service does not take this token: ${message}.`;
  return `${message}. ${suggestedAction ?? ''}`.trim();
}

/** @param {Record<string, unknown>} facts */
function formatBalanceTooLow({ balance, requiredBalance }) {
  const required = Number(requiredBalance);
  const held = Math.floor(Number(balance ?? 0));
  return `This wallet holds ${formatCount(held)} gate tokens, and the Basic tier takes ${formatCount(required)}: ${formatCount(required - held)} are missing.`;
}

/** @param {Record<string, unknown>} facts */
function formatClockSkew({ serverTime }) {
  const minutes = Math.round((Date.now() - Date.parse(String(serverTime))) / 60_000);
  const off = `${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'}`;
  return `The clock of this device is ${off} the service's: the time that is signed must be within 5 minutes of it. Set it, and sign again.`;
}

/** @param {{ code?: number, message?: string }} error */
function formatWalletError({ code }) {
  if (code === USER_REJECTED_REQUEST) return 'You declined in the wallet. Nothing was signed, and nothing was sent.';
  if (code === REQUEST_PENDING) return 'The wallet has this question open already: answer it there.';
  return 'The wallet did not sign. Unlock it and try again, or use another one.';
}

/** The bytes of a text as wallets take them. @param {string} text */
function textToHex(text) {
  return `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

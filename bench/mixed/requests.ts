import { randomBytes, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Hex } from 'viem';
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import { formatLoginMessage } from '../../src/auth/login-message.ts';
import type { PaymentRequirements } from '../../src/commerce/x402/terms.ts';
import { asHeader, readHeader } from '../../test/support/commerce/payments.ts';
import { signPayment } from '../../test/support/commerce/x402.ts';

/** Requests of the mixed load, with the share of each; those without one have a rate of their own. */
export const SHARES = { signal: 30, history: 20, scorecard: 10, premium: 15, mcp: 10, a2a: 10, login: 5 } as const;
export const FIXED_PER_SECOND = { payment: 1, health: 2 } as const;

export type Kind = keyof typeof SHARES | keyof typeof FIXED_PER_SECOND;

export const KINDS = [...Object.keys(SHARES), ...Object.keys(FIXED_PER_SECOND)] as Kind[];

export interface ClientKeys {
  premium: Hex;
  buyer: Hex;
}

interface Sent {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: object;
}

const PAID = '/oracle?horizon=7d';
const JSON_HEADERS = { 'Content-Type': 'application/json' };
const TIMEOUT_MS = 30_000;
/** Addresses that the requests come from. */
const ADDRESSES = 64;

let lastTimestamp = Date.now() - 240_000;

/** A signed login; each has a time of its own within the window. */
export async function signLogin(account: LocalAccount): Promise<object> {
  lastTimestamp = Math.max(lastTimestamp + 1, Date.now() - 240_000);
  const message = formatLoginMessage(account.address, lastTimestamp);
  return { wallet: account.address, timestamp: lastTimestamp, signature: await account.signMessage({ message }) };
}

/** Logs the Premium wallet in, and returns a function that sends a request of a kind. */
export async function openRequests(url: string, keys: ClientKeys) {
  const [premium, buyer] = [privateKeyToAccount(keys.premium), privateKeyToAccount(keys.buyer)];
  const requirements = await readRequirements(url);
  const login = async (): Promise<Sent> => ({
    method: 'POST',
    path: '/api/svc/oracle/verify',
    headers: JSON_HEADERS,
    body: await signLogin(premium),
  });
  const { token } = JSON.parse((await send(url, await login())).text) as { token: string };
  const builders: Record<Kind, () => Promise<Sent> | Sent> = {
    signal: () => ({ method: 'GET', path: '/api/svc/open/signal' }),
    history: () => ({ method: 'GET', path: `/api/svc/onchain-oracle/history?limit=${1 + Math.floor(Math.random() * 50)}` }),
    scorecard: () => ({ method: 'GET', path: '/api/svc/scorecard?horizon=7d' }),
    premium: () => ({ method: 'GET', path: '/api/svc/oracle/premium', headers: { Authorization: `Bearer ${token}` } }),
    mcp: () => ({
      method: 'POST',
      path: '/mcp',
      headers: { ...JSON_HEADERS, Accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_track_record', arguments: {} } },
    }),
    a2a: () => ({
      method: 'POST',
      path: '/a2a',
      headers: { ...JSON_HEADERS, 'A2A-Version': '1.0' },
      body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: buildMessage() } },
    }),
    login,
    payment: async () => {
      const payment = await signPayment({ account: buyer, requirements, change: { nonce: `0x${randomBytes(32).toString('hex')}` } });
      return { method: 'GET', path: PAID, headers: { 'PAYMENT-SIGNATURE': asHeader(payment) } };
    },
    health: () => ({ method: 'GET', path: '/health' }),
  };
  return async (kind: Kind) => send(url, await builders[kind]());
}

function buildMessage(): object {
  return { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data: { skill: 'get_market_context', input: { include: ['price'] } } }] };
}

async function readRequirements(url: string): Promise<PaymentRequirements> {
  const { headers } = await fetch(`${url}${PAID}`);
  return readHeader(headers.get('payment-required')).accepts[0];
}

const agents = Array.from(
  { length: ADDRESSES },
  (_, index) =>
    new Agent({ keepAlive: true, maxSockets: 128, localAddress: `127.0.2.${index + 1}` } as ConstructorParameters<typeof Agent>[0]),
);

interface Received {
  status: number;
  text: string;
  ms: number;
}

/** Rejects for a request that is lost: reset, or not answered within the timeout. */
function send(url: string, { method, path, headers = {}, body }: Sent): Promise<Received> {
  const agent = agents[Math.floor(Math.random() * agents.length)];
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const length = bytes === undefined ? {} : { 'Content-Length': bytes.length };
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const startedAtMs = performance.now();
  const sent = request(`${url}${path}`, { agent, method, headers: { ...headers, ...length }, timeout: TIMEOUT_MS }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('error', reject);
    response.once('end', () =>
      resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString(), ms: performance.now() - startedAtMs }),
    );
  });
  // The server may close an idle connection in the moment in which it is used again; clients then repeat the request.
  const repeat = (error: NodeJS.ErrnoException) =>
    sent.reusedSocket && error.code === 'ECONNRESET' ? resolve(send(url, { method, path, headers, body })) : reject(error);
  sent.once('error', repeat).once('timeout', () => sent.destroy(new Error('timeout')));
  sent.end(bytes);
  return promise;
}

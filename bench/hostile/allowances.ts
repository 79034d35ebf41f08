import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type FloodCall, send } from '../../test/support/faults/flood-callers.ts';
import { MCP_HEADERS, rpc } from '../../test/support/mcp/mcp.ts';
import type { Attack, Sent, Target } from './attack.ts';

/** Of the limit of one address (`RATE_LIMIT_PUBLIC`), which ends the calls of an honest client. */
const MAX_CALLS = 1_000;
const MINUTE_MS = 60_000;

/** Reads that are not answered from an earlier answer, as none of these calls is. */
const SIGNAL: FloodCall = { path: '/api/svc/open/signal?cache={n}' };

const post = (path: string, body: unknown, headers: Record<string, string> = {}): FloodCall => ({
  path,
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

const MODEXP = '0x0000000000000000000000000000000000000005';
/** Lengths of base, exponent and modulus of 256 bytes each, then their bytes: a batch of 33 is a body that is accepted. */
const MODEXP_INPUT = `0x${'100'.padStart(64, '0').repeat(3)}${'f'.repeat(3 * 512)}`;
const RECORD_CALL = { name: 'get_track_record', arguments: { pageSize: 50, detail: 'full' } };
const TEXT = 'will move where '.repeat(243);
const message = { messageId: 'allowance-{n}', role: 'ROLE_USER', parts: [{ text: TEXT }] };

/** What an anonymous client may call for most of the service's time, each against the same minute of reading the signal. */
const OPERATIONS: readonly { name: string; what: string; call: FloodCall }[] = [
  {
    name: 'MCP batches',
    what: 'batches of 20 get_track_record with all details',
    call: post(
      '/mcp',
      Array.from({ length: 20 }, (_, id) => ({ ...rpc('tools/call', RECORD_CALL), id })),
      MCP_HEADERS,
    ),
  },
  {
    name: 'A2A texts',
    what: `texts of ${TEXT.length.toLocaleString('en-US')} characters that match no skill but begin many`,
    call: post('/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }, { 'A2A-Version': '1.0' }),
  },
  { name: 'walk-forward', what: 'the walk-forward test', call: { path: '/api/self-test/walk-forward?cache={n}' } },
  {
    name: 'chain reads',
    what: 'batches of 33 calls of the modular exponentiation of the EVM over /rpc',
    call: post(
      '/rpc',
      Array.from({ length: 33 }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'eth_call',
        params: [{ to: MODEXP, data: MODEXP_INPUT }, 'latest'],
      })),
    ),
  },
  { name: 'scorecards', what: 'the scorecard with 1,000 entries', call: { path: '/api/svc/scorecard?limit=1000&cache={n}' } },
];

/** The limit counts by the minute: what is sent across the end of one has two. */
async function untilMinuteIsYoung(): Promise<void> {
  const ms = Date.now() % MINUTE_MS;
  if (ms > MINUTE_MS / 2) await delay(MINUTE_MS - ms);
}

/** Sends a call from one address until its allowance of the minute is used up. */
async function useAllowance({ url, nextAddress, report }: Target, name: string, call: FloodCall): Promise<Sent> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: nextAddress() });
  await untilMinuteIsYoung();
  let requests = 0;
  let isLimited = false;
  while (!isLimited && requests < MAX_CALLS) {
    const { status, text } = await send(url, call, agent);
    isLimited = status === 429 || /"code":(?:"RATE_LIMITED"|-32005)/.test(text);
    requests += 1;
  }
  agent.destroy();
  report(`  ${name}: ${requests} requests until the limit of one address`);
  return { requests, bytes: requests * (call.path.length + (call.body?.length ?? 0)) };
}

export const ALLOWANCES: readonly Attack[] = OPERATIONS.map(({ name, what, call }) => ({
  name,
  what: `one address sends ${what} until it reaches its limit`,
  per: 'minute',
  honest: (target) => useAllowance(target, 'signal', SIGNAL),
  hostile: (target) => useAllowance(target, name, call),
}));

import { describe, expect, onTestFinished, test } from 'vitest';
import { MAX_STREAMS } from '../../../src/a2a/open-streams.ts';
import { MARKET, message, rpcOf } from '../../support/a2a-bench.ts';
import { a2aSuite, type SuiteBench } from '../../support/a2a-suite.ts';

const suite = a2aSuite();
const { bench } = suite;

const FROM = (address: string) => ({ 'X-Forwarded-For': address });
const BASIC = { Authorization: 'Bearer basic' };
const PAYMENT = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': { x402Version: 2 } };

/** A bench whose skills do not answer before the test ends, so that streams stay open. */
async function heldBench(): Promise<SuiteBench> {
  const one = await bench();
  const { release } = one.hold();
  onTestFinished(release);
  return one;
}

/** Sends `message/stream`, and returns whether the stream opened or the code of its rejection. */
async function openStream({ url }: SuiteBench, headers: Record<string, string>, more: object = {}): Promise<string> {
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const answer = await fetch(`${url}/a2a`, {
    method: 'POST',
    signal: aborting.signal,
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendStreamingMessage', params: message(MARKET, more) }),
  });
  if (answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return 'open';
  const { error } = (await answer.json()) as { error: { data: { reason: string; metadata: Record<string, string> }[] } };
  expect(error.data[0]!.metadata).toMatchObject({ retryAfterSeconds: expect.any(String), suggestedAction: expect.stringMatching(/\w/) });
  return error.data[0]!.reason;
}

/** Opens one stream from each address, and counts the outcomes. */
async function openFrom(one: SuiteBench, addresses: readonly string[], more?: object): Promise<Record<string, number>> {
  const outcomes = await Promise.all(addresses.map((address) => openStream(one, FROM(address), more)));
  return Object.fromEntries(Object.entries(Object.groupBy(outcomes, (outcome) => outcome)).map(([key, all]) => [key, all!.length]));
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
/** Addresses in so many /64s of one /56, or of one /48 with a /56 each. */
const inOne56 = (count: number) => numbers(count).map((n) => `2001:db8:a:${n.toString(16)}::1`);
const inOne48 = (count: number) => numbers(count).map((n) => `2001:db8:b:${n.toString(16)}00::1`);
const scattered = (count: number) => numbers(count).map((n) => `198.51.${100 + (n >> 8)}.${n & 255}`);

describe('streams of anonymous callers', () => {
  test('are bounded for one /56 and for one /48', async () => {
    const one = await heldBench();
    const { per56, per48 } = MAX_STREAMS;
    expect(await openFrom(one, inOne56(per56 + 5))).toEqual({ open: per56, RATE_LIMITED: 5 });
    expect(await openFrom(one, inOne48(per48 + 5))).toEqual({ open: per48, RATE_LIMITED: 5 });
    expect(await openStream(one, FROM('2001:db8:c::1'))).toBe('open');
  });

  test('leave a share for payers and one for token holders', async () => {
    const one = await heldBench();
    const { anonymous, anonymousAndPayers } = MAX_STREAMS;
    expect(await openFrom(one, scattered(anonymous + 3))).toEqual({ open: anonymous, RATE_LIMITED: 3 });
    const payers = anonymousAndPayers - anonymous;
    const paying = { metadata: PAYMENT };
    expect(await openFrom(one, scattered(payers + 3), paying)).toEqual({ open: payers, RATE_LIMITED: 3 });
    expect(await openStream(one, { ...FROM('198.51.100.1'), ...BASIC })).toBe('open');
  });
});

describe('a task that waits for input', () => {
  const STATE = 'TASK_STATE_INPUT_REQUIRED';

  test('ends its streams, over both bindings and versions', async () => {
    const { url } = await bench();
    const ended = AbortSignal.timeout(5_000);
    const eventsOf = async (path: string, version: string, body?: object) => {
      const headers = { 'Content-Type': 'application/json', 'A2A-Version': version };
      const answer = await fetch(url + path, { method: 'POST', signal: ended, headers, body: body && JSON.stringify(body) });
      return answer.text();
    };
    const { id } = (await rpcOf(url)('SendMessage', message({ text: 'hello' }))).body.result.task;
    const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 7, method, params });
    const old = () => ({
      message: { messageId: crypto.randomUUID(), role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'hello' }] },
    });
    const oldRest = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', content: [{ text: 'hello' }] } };
    expect(await eventsOf('/a2a', '1.0', rpc('SubscribeToTask', { id }))).toContain(STATE);
    expect(await eventsOf(`/a2a/rest/tasks/${id}:subscribe`, '1.0')).toContain(STATE);
    expect(await eventsOf('/a2a', '1.0', rpc('SendStreamingMessage', message({ text: 'hello' })))).toContain(STATE);
    expect(await eventsOf('/a2a/rest/message:stream', '1.0', message({ text: 'hello' }))).toContain(STATE);
    expect(await eventsOf('/a2a', '0.3', rpc('message/stream', old()))).toContain('input-required');
    expect(await eventsOf('/a2a', '0.3', rpc('tasks/resubscribe', { id }))).toContain('input-required');
    expect(await eventsOf('/a2a/rest/v1/message:stream', '0.3', oldRest)).toContain(STATE);
    expect(await eventsOf(`/a2a/rest/v1/tasks/${id}:subscribe`, '0.3')).toContain(STATE);
  });
});

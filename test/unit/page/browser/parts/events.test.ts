import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildExampleView } from '../../../../../src/events/asyncapi.ts';
import { PUSHED_NAMES } from '../../../../../src/events/events.ts';
import { createSession } from '../../../../../src/page/browser/api.ts';
import {
  formatAttestation,
  formatEvent,
  LiveEvents,
  toAttestationLines,
  toEventLines,
} from '../../../../../src/page/browser/parts/events.ts';
import { emptyStorage, stubPage } from '../page-globals.ts';

describe('event lines', () => {
  const HORIZONS = ['1d', '2d', '3d', '7d'];
  const uid = (index: number) => `0x${String(index).repeat(64).slice(0, 64)}`;
  const sealed = { signal: 'GATED', direction: null, confidence: null };
  const call = (index: number, what: object = {}) => ({
    ...{ date: '2026-03-10', horizon: HORIZONS[index], btcPrice: 56_124, signal: 'BUY', direction: 'UP', confidence: 0.561, ...what },
  });
  const commitment = (index: number, what: object = {}) => ({
    ...{ type: 'prediction', date: '2026-03-10', horizon: HORIZONS[index], blockNumber: 132, status: 'PENDING', uid: uid(index), ...what },
  });
  const event = (id: number, type: string, data: object) => ({ id, type, timestamp: '2026-03-10T21:35:00.000Z', data });
  /** Newest first. */
  const eventsOf = (type: string, all: readonly object[]) => all.map((data, index) => event(index + 1, type, data)).toReversed();
  const ALL = [0, 1, 2, 3];

  describe('event groups', () => {
    it('merges one step into one line, by ascending horizon, with all uids', () => {
      const lines = toEventLines(
        eventsOf(
          'attestation.created',
          ALL.map((index) => commitment(index)),
        ),
      );
      expect(lines).toMatchObject([{ key: 'event-4', kind: 'Committed', uids: ALL.map(uid), replayed: false }]);
      expect(lines[0]?.text).toBe('Calls of 10 Mar for 1, 2, 3 and 7 days: committed on chain in block 132.');
    });

    it('formats each call as far as it is visible', () => {
      const [line] = toEventLines(eventsOf('signal.new', [call(0), call(3, sealed)]));
      expect(line).toMatchObject({
        kind: 'New calls',
        text: 'Calls of 10 Mar, with Bitcoin at $56,124: 1-day BUY, UP at 56.1\u00a0%; 7-day hidden.',
      });
    });

    it('replaces the line when an event is added, so that it is announced', () => {
      const all = eventsOf('signal.new', [call(0), call(1), call(2)]);
      expect([1, 2, 3].map((count) => toEventLines(all.slice(-count)).map(({ key }) => key))).toEqual([
        ['event-1'],
        ['event-2'],
        ['event-3'],
      ]);
    });

    it('separates events of another day, block or kind, or with another event in between', () => {
      const apart = [commitment(0), commitment(1, { blockNumber: 133 }), commitment(2, { date: '2026-03-11', blockNumber: 133 })];
      expect(toEventLines(eventsOf('attestation.created', apart))).toHaveLength(3);
      const resolved = ALL.map((index) => commitment(index, { type: 'resolution', status: 'WIN', direction: 'UP', returnBps: 12 }));
      expect(toAttestationLines(resolved)).toHaveLength(4);
      const between = [
        event(3, 'signal.new', call(0)),
        event(2, 'regime.changed', { from: 'CHOP', to: 'CRISIS' }),
        event(1, 'signal.new', call(1)),
      ];
      expect(toEventLines(between).map(({ key }) => key)).toEqual(['event-3', 'event-2', 'event-1']);
    });

    it('merges public attestations and keeps single ones unchanged', () => {
      const rows = [commitment(3), commitment(2), commitment(1, { blockNumber: 99 })];
      expect(toAttestationLines(rows).map(({ text, uids }) => [text, uids.length])).toEqual([
        ['Calls of 10 Mar for 3 and 7 days: committed on chain in block 132.', 2],
        ['2-day call of 10 Mar: committed on chain in block 99.', 1],
      ]);
    });
  });
});

const OPTIONS = { publicUrl: 'http://127.0.0.1:3000', chainId: 31_337 };
const GAPS = /undefined|null|NaN|\[object|GATED/;

describe('formatEvent', () => {
  it.each(PUSHED_NAMES)('formats %s as one complete sentence for each tier', (type) => {
    for (const tier of ['basic', 'premium'] as const) {
      const { kind, text } = formatEvent(type, buildExampleView(type, tier, OPTIONS).data);
      expect(kind).toMatch(/^[A-Z][a-z ]+$/);
      expect(text).toMatch(/^[^\n]{10,250}\.$/);
      expect(text).not.toMatch(GAPS);
    }
  });

  it('formats a call and its outcome', () => {
    const call = buildExampleView('signal.new', 'basic', OPTIONS).data;
    expect(formatEvent('signal.new', call).text).toBe('7-day call of 10 Mar: BUY, UP at 56.1\u00a0%, with Bitcoin at $56,124.');
    expect(formatEvent('signal.new', { ...call, signal: 'HOLD' }).text).toContain('HOLD, abstains (leans UP at 56.1\u00a0%)');
    const lost = { ...buildExampleView('signal.resolved', 'basic', OPTIONS).data, outcome: 'LOSS', returnBps: -263 };
    expect(formatEvent('signal.resolved', lost)).toMatchObject({
      tone: 'bad',
      text: expect.stringContaining('the price moved −2.63\u00a0%'),
    });
  });

  it('omits values that a wallet below Basic may not see', () => {
    const sealed = { signal: 'GATED', direction: null, confidence: null };
    expect(formatEvent('signal.new', { ...buildExampleView('signal.new', 'basic', OPTIONS).data, ...sealed }).text).toContain(
      'call of 10 Mar: hidden',
    );
    const hidden = { side: null, amount: null, odds: null, outcome: null, pnl: null };
    for (const type of ['wager.placed', 'wager.settled'] as const) {
      expect(formatEvent(type, { ...buildExampleView(type, 'basic', OPTIONS).data, ...hidden }).text).not.toMatch(GAPS);
    }
  });

  it('formats the reason of a day without a wager', () => {
    const skipped = { placed: false, reason: 'no edge after costs', side: 'NONE', amount: 0, odds: 0 };
    const { text } = formatEvent('wager.placed', { ...buildExampleView('wager.placed', 'basic', OPTIONS).data, ...skipped });
    expect(text).toBe('None on 10 Mar: no edge after costs.');
  });

  it('bounds external text and accepts unknown event types', () => {
    const market = 'x'.repeat(10_000);
    expect(formatEvent('wager.placed', { ...buildExampleView('wager.placed', 'basic', OPTIONS).data, market }).text.length).toBeLessThan(
      300,
    );
    expect(formatEvent('y'.repeat(1_000), {}).kind.length).toBeLessThanOrEqual(40);
  });

  it('formats public attestations: the outcome of a resolved call, the commitment of an unresolved one', () => {
    const row = { horizon: '7d', date: '2026-11-14', blockNumber: 132, direction: 'UP', returnBps: -263 };
    expect(formatAttestation({ ...row, type: 'resolution', status: 'LOSS' }).text).toContain('LOSS. Called UP');
    expect(formatAttestation({ ...row, type: 'resolution', status: 'HOLD' }).text).toContain('HOLD, revealed on chain in block 132');
    const open = formatAttestation({ ...row, type: 'prediction', status: 'PENDING' });
    expect(open).toEqual({ kind: 'Committed', text: '7-day call of 14 Nov: committed on chain in block 132.' });
  });
});
describe('live events', () => {
  class Socket {
    static readonly OPEN = 1;
    readonly readyState = 1;
    onmessage: (message: { data: string }) => void = () => {};
    constructor() {
      sockets.push(this);
    }
    close(): void {}
    send(): void {}
    receive(message: object): void {
      this.onmessage({ data: JSON.stringify(message) });
    }
  }

  let sockets: Socket[];
  beforeEach(() => {
    sockets = [];
    vi.useFakeTimers();
    stubPage(() => ({ ticket: 'one' }));
    vi.stubGlobal('WebSocket', Socket);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const call = (id: number) => ({ id, type: 'signal.new', timestamp: '2026-03-10T21:35:00.000Z', data: {} });

  async function connected() {
    const session = createSession(emptyStorage());
    session.set({ token: 'one', wallet: `0x${'ab'.repeat(20)}`, tier: 'basic', expiresAt: new Date(Date.now() + 60_000).toISOString() });
    const [onChange, onEvents] = [vi.fn(), vi.fn()];
    const live = new LiveEvents({ session, onChange, onEvents });
    live.start();
    await vi.waitFor(() => expect(sockets).toHaveLength(1));
    sockets[0]!.receive({ type: 'connected', data: { lastEventId: 0 } });
    expect(live.state).toBe('live');
    onChange.mockClear();
    return { live, socket: sockets[0]!, onChange, onEvents };
  }

  it('reports events of one step together, so that they are announced once', async () => {
    const { live, socket, onChange, onEvents } = await connected();
    for (const id of [1, 2, 3, 4]) {
      socket.receive(call(id));
      vi.advanceTimersByTime(100);
    }
    expect([onChange.mock.calls.length, onEvents.mock.calls.length]).toEqual([0, 0]);
    vi.advanceTimersByTime(199);
    expect(onEvents).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect([onChange.mock.calls.length, onEvents.mock.calls.length]).toEqual([0, 1]);
    expect(live.events.map(({ id }) => id)).toEqual([4, 3, 2, 1]);
  });

  it('reports later events separately', async () => {
    const { socket, onEvents } = await connected();
    for (const id of [1, 2]) {
      socket.receive(call(id));
      vi.advanceTimersByTime(300);
      expect(onEvents).toHaveBeenCalledTimes(id);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { toAttestationLines, toEventLines } from '../../../../src/page/browser/parts/events.ts';

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

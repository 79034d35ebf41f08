import { describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import type { CheckedRow } from '../../../../src/verify/checks/forecast.ts';
import type { ClaimedRow } from '../../../../src/verify/evidence.ts';
import { createFindings, formatSubject } from '../../../../src/verify/findings.ts';
import { compareRows, type RowContext } from '../../../../src/verify/verify.ts';

const day = parseDay('2026-03-01');
const UID = `0x${'a'.repeat(64)}` as const;

/** A forecast that is over, as chain and prices prove it. */
function rowOf(status: CheckedRow['status']): CheckedRow {
  const data = {
    ...{ sequence: 1, day, horizonDays: 2, windowOpensAt: new Date(toInstantMs(day + 1)), resolvesAt: new Date(toInstantMs(day + 3)) },
    ...{ commitment: UID, inputsDigest: UID, metadata: UID },
  };
  const prediction = { uid: UID, at: new Date(toInstantMs(day, 21, 38)), refUid: UID, data };
  return { prediction, missed: false, late: false, resolution: null, opened: false, outcome: null, status };
}

function contextOf(now = toInstantMs(day + 5)): RowContext {
  const prices = { source: 'test', toleranceBps: 0, endsOn: null, closes: new Map([[day, 50_000]]) };
  return { horizonDays: 2, prices, now: new Date(now), findings: createFindings() };
}

const CLAIM: ClaimedRow = {
  ...{ date: '2026-03-01', sequence: 1, status: 'PENDING', signal: 'GATED', direction: null, confidence: null, pUp: null, btcPrice: 1 },
  ...{ btcAtSignal: 50_000, btcAtResolution: null, returnBps: null, outcome: null, resolved: false, resolvedAt: null, missed: false },
  ...{ windowOpensAt: '2026-03-02T00:00:00.000Z', resolvesAt: '2026-03-04T00:00:00.000Z', attestationUid: UID, resolutionUid: null },
};

const messages = ({ findings }: RowContext) =>
  findings.list.flatMap(({ outcome, subject, because }) => (outcome === 'fail' ? [`${formatSubject(subject)}: ${because}`] : []));

describe('compareRows', () => {
  it('reports an omitted loss', () => {
    const context = contextOf();
    compareRows([rowOf('LOSS')], [], context);
    expect(messages(context)).toEqual([
      `2026-03-01 2d, sequence 1 (${UID}): the service does not show it: a loss was dropped (expected true, found false)`,
    ]);
  });

  it('accepts a pending row with and without the close at window open', () => {
    for (const btcAtSignal of [50_000, null]) {
      const context = contextOf();
      compareRows([rowOf('PENDING')], [{ ...CLAIM, btcAtSignal }], context);
      expect(messages(context)).toEqual([]);
    }
    const context = contextOf();
    compareRows([rowOf('PENDING')], [{ ...CLAIM, btcAtSignal: 50_000.01 }], context);
    expect(messages(context)).toEqual([expect.stringContaining('the service shows another btcAtSignal (expected 50000, found 50000.01)')]);
  });

  it('reports a repeated sequence and an invalid date', () => {
    const context = contextOf();
    expect(compareRows([rowOf('PENDING')], [CLAIM, CLAIM, { ...CLAIM, sequence: 2, date: 'soon', attestationUid: null }], context)).toEqual(
      [],
    );
    expect(messages(context)).toEqual([
      '2026-03-01 2d, sequence 1: the service shows sequence 1 twice',
      '2d, sequence 2: the service shows it, and it is not on chain',
    ]);
  });

  it('counts an uncommitted row as pending until its window opens', () => {
    const draft = { ...CLAIM, attestationUid: null };
    const before = contextOf(toInstantMs(day + 1) - 1);
    expect(compareRows([], [draft], before)).toEqual([{ day, status: 'PENDING', missed: false, scored: null }]);
    expect(messages(before)).toEqual([]);
    const after = contextOf(toInstantMs(day + 1));
    expect(compareRows([], [draft], after)).toEqual([]);
    expect(messages(after)).toEqual(['2026-03-01 2d, sequence 1: the service shows it, and it is not on chain']);
  });

  it.each<[string, Partial<ClaimedRow>]>([
    ['of a day to come', { date: '2026-03-03' }],
    ['of another number than the next', { sequence: 3 }],
    ['with an outcome', { outcome: { actualReturn: 0.1, actualDirection: 'UP', correct: true } }],
    ['with a resolution', { resolved: true }],
    ['that was missed', { missed: true }],
    ['with an attestation', { attestationUid: `0x${'b'.repeat(64)}` }],
  ])('reports a row that is not on chain and %s', (_, lie) => {
    const context = contextOf(toInstantMs(day + 1, 22));
    const next = { ...CLAIM, date: '2026-03-02', sequence: 2, attestationUid: null };
    expect(compareRows([rowOf('PENDING')], [CLAIM, next], context)).toHaveLength(1);
    expect(messages(context)).toEqual([]);
    expect(compareRows([rowOf('PENDING')], [CLAIM, { ...next, ...lie }], context)).toEqual([]);
    expect(messages(context)).toEqual([expect.stringContaining('the service shows it, and it is not on chain')]);
  });
});

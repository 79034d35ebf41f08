import { type Hex, zeroHash } from 'viem';
import { describe, expect, it } from 'vitest';
import { type CommitmentOpening, computeCommitment } from '../../../../src/chain/eas/schemas.ts';
import { DAY_MS, parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { checkForecast } from '../../../../src/verify/checks/forecast.ts';
import { checkSequences } from '../../../../src/verify/checks/record.ts';
import type { Prediction, Resolution } from '../../../../src/verify/evidence.ts';
import { createFindings } from '../../../../src/verify/findings.ts';

const day = parseDay('2026-03-01');
const UID: Hex = `0x${'a'.repeat(64)}`;
const OPENING: CommitmentOpening = {
  ...{ salt: UID, signal: 'BUY', direction: 'UP', confidenceBps: 5_500, pUpBps: 5_500, btcPriceCents: 5_000_000 },
};
const RESOLVES_AT = toInstantMs(day + 2);
/** What a number of uint64 becomes that is no time on this earth. */
const NO_TIME = new Date(9e15 * 1000);

function predictionOf(times: { at?: number; resolvesAt?: Date; windowOpensAt?: Date; commitment?: Hex } = {}): Prediction {
  const { at = toInstantMs(day, 21, 38), resolvesAt = new Date(RESOLVES_AT), windowOpensAt = new Date(toInstantMs(day + 1)) } = times;
  const { commitment = computeCommitment(OPENING) } = times;
  const data = { sequence: 1, day, horizonDays: 1, windowOpensAt, resolvesAt, commitment, inputsDigest: UID, metadata: UID };
  return { uid: UID, at: new Date(at), refUid: zeroHash, data };
}

function resolutionAt(at: number): Resolution {
  const came = { btcAtSignalCents: 5_000_000, btcAtResolutionCents: 5_050_000, returnBps: 100, outcome: 'WIN' } as const;
  return { uid: `0x${'b'.repeat(64)}`, at: new Date(at), refUid: UID, data: { ...OPENING, ...came } };
}

function audited(prediction: Prediction, resolution: Resolution | null, closes: ReadonlyMap<number, number> = new Map()) {
  const findings = createFindings();
  const prices = { source: 'test', toleranceBps: 0, endsOn: null, closes };
  checkSequences([prediction], findings);
  checkForecast(prediction, resolution, { prices, now: new Date(RESOLVES_AT + 60 * DAY_MS), findings });
  const failed = findings.list.filter(({ outcome }) => outcome === 'fail');
  const gaps = findings.list.filter(({ check, outcome, isDue }) => outcome === 'unknown' && isDue && check !== 'price');
  return {
    notes: findings.notes,
    gaps: gaps.map(({ because }) => because),
    fields: failed.map(({ check, field }) => `${check} ${field}`),
    messages: failed.map(({ because }) => because),
  };
}

describe('a resolved window without a reveal', () => {
  it('is a difference with a close to decide it, and a gap without one', () => {
    expect(audited(predictionOf(), null, new Map([[day + 1, 50_000]]))).toMatchObject({ fields: ['revealed resolution'], gaps: [] });
    const { fields, gaps } = audited(predictionOf(), null);
    expect(fields).toEqual([]);
    expect(gaps).toEqual([expect.stringContaining('not revealed; there is no close of 2026-03-02 in test')]);
  });
});

describe('notes', () => {
  it('include a reveal later than two days after the end', () => {
    expect(audited(predictionOf(), resolutionAt(RESOLVES_AT + 2 * DAY_MS))).toMatchObject({ notes: [], fields: [] });
    const { notes, fields } = audited(predictionOf(), resolutionAt(RESOLVES_AT + 2 * DAY_MS + 1_000));
    expect(fields).toEqual([]);
    expect(notes).toEqual([
      `2026-03-01 1d, sequence 1 (${UID}): revealed late, at 2026-03-05T00:00:01.000Z; it was over at 2026-03-03T00:00:00.000Z`,
    ]);
  });

  it('include an attestation before its day', () => {
    expect(audited(predictionOf({ at: toInstantMs(day) }), resolutionAt(RESOLVES_AT)).notes).toEqual([]);
    const { notes, fields } = audited(predictionOf({ at: toInstantMs(day) - 1_000 }), resolutionAt(RESOLVES_AT));
    expect(fields).toEqual([]);
    expect(notes.join()).toContain('attested at 2026-02-28T23:59:59.000Z, before its day had begun');
  });
});

describe('a time beyond the range of dates', () => {
  it('is reported for every status', () => {
    const revealed = audited(predictionOf({ resolvesAt: NO_TIME }), resolutionAt(RESOLVES_AT));
    expect(revealed.fields).toEqual(['windows resolvesAt', 'afterWindow time']);
    expect(revealed.messages[1]).toContain('before its window ended at a time that does not exist');
    expect(audited(predictionOf({ resolvesAt: NO_TIME }), null).fields).toEqual(['windows resolvesAt']);
    const missed = audited(predictionOf({ windowOpensAt: NO_TIME, commitment: zeroHash }), resolutionAt(RESOLVES_AT));
    expect(missed.fields).toEqual(['windows windowOpensAt', 'void time']);
  });
});

import type { Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { ZERO_UID } from '../../../../src/dashboard/chain/eas.ts';
import { verifyRow } from '../../../../src/dashboard/check/verify-row.ts';
import { findNeighbours } from '../../../../src/dashboard/record/neighbours.ts';
import type { ScorecardRow } from '../../../../src/dashboard/state/responses.ts';
import { before, evidence, NEIGHBOURS, OPEN, OPENS, PREVIOUS, prediction, RESOLVES, ROW, resolution, wrongIn } from './evidence.ts';

const HOUR = 3_600_000;

/** Rows that are false or incomplete without contradicting the chain in a value. */
describe('a falsified record', () => {
  it('is unchecked when a loss is shown as unresolved', () => {
    const hidden = (now: number) => verifyRow(evidence(OPEN, { second: null, now: new Date(now) }));
    expect(hidden(RESOLVES + 12 * HOUR)).toMatchObject({ verdict: 'verified', summary: expect.stringMatching(/^Verified so far/) });
    expect(hidden(RESOLVES + 12 * HOUR + 1)).toMatchObject({
      verdict: 'unchecked',
      summary: 'Could not be checked: its window ended on 2026-03-04, and the service names no outcome',
    });
    const why = hidden(RESOLVES + HOUR).open.find(({ what }) => what === 'the outcome')?.why;
    expect(why).toBe('the window ended on 2026-03-04, and the service names no outcome');
  });

  it('expects no outcome of a void row', () => {
    const late = prediction({ time: OPENS / 1_000 + 60 });
    const finding = verifyRow(evidence({ ...OPEN, status: 'VOID' }, { first: late, second: null, now: new Date(RESOLVES + 9_999 * HOUR) }));
    expect(finding).toMatchObject({ verdict: 'verified', stage: 'void', summary: expect.stringMatching(/^Verified as void/) });
    expect(finding.open.every(({ isDue }) => !isDue)).toBe(true);
  });

  it('is a mismatch when it claims an outcome without an attestation', () => {
    expect(wrongIn(evidence({ attestationUid: null }))).toEqual(['prediction attestation']);
    expect(wrongIn(evidence({ ...OPEN, attestationUid: null, resolutionUid: PREVIOUS.uid }))).toEqual(['prediction attestation']);
  });

  it('is a mismatch when rows are missing or repeated', () => {
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, before: null }, previous: null }))).toEqual(['record before']);
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, alike: 2 } }))).toEqual(['record once']);
    const unattested = { ...NEIGHBOURS, before: { ...ROW, sequence: 59, attestationUid: null } };
    expect(wrongIn(evidence({}, { neighbours: unattested, previous: null }))).toEqual(['prediction link']);
  });

  it('is a mismatch when it is of another horizon', () => {
    expect(wrongIn(evidence({}, { horizon: 7 }))).toEqual(['prediction horizon', 'record horizon']);
  });

  it('is a mismatch when a committed day is shown as missed', () => {
    expect(wrongIn(evidence({ missed: true }))).toEqual(['prediction missed', 'prediction void']);
    const missed = prediction({}, ZERO_UID as Hex);
    expect(wrongIn(evidence({ ...OPEN, status: 'VOID' }, { first: missed, second: null }))).toContain('prediction missed');
    expect(wrongIn(evidence({ ...OPEN, missed: true, signal: null }, { first: missed, second: null }))).toEqual(['prediction void']);
  });

  it('is a mismatch when it shows parts of a hidden or missed call', () => {
    for (const part of [{ pUp: 0.99 }, { confidence: 0.6 }, { signal: 'BUY' }]) {
      expect(wrongIn(evidence({ ...OPEN, ...part }, { second: null }))).toEqual(['prediction call']);
    }
    const missed = { first: prediction({}, ZERO_UID as Hex), second: null };
    const row = { ...OPEN, status: 'VOID', missed: true, signal: null };
    expect(wrongIn(evidence({ ...row, direction: 'UP' }, missed))).toEqual(['prediction call']);
  });

  it.each([
    ['of another wallet', {}, { attester: `0x${'ee'.repeat(20)}` }, ['previous']],
    ['of another schema', {}, { schema: `0x${'ee'.repeat(32)}` }, ['previous']],
    ['of another horizon', { horizonDays: 7 }, {}, ['previousPlace']],
    ['of twenty days before', { day: OPENS / 86_400_000 - 21 }, {}, ['previousPlace']],
    ['of another number', { sequence: 58 }, {}, ['previousPlace']],
    ['unreadable', {}, { data: '0x12' }, ['previousPlace']],
  ])('refers to a predecessor that is %s', (_, place, what, caughtBy) => {
    const previous = before(place, what);
    const first = prediction({ refUID: previous.uid });
    const neighbours = { ...NEIGHBOURS, before: { ...ROW, sequence: 59, attestationUid: previous.uid } };
    const given = evidence({}, { first, second: resolution(first.uid), neighbours, previous: { attestation: previous } });
    expect(wrongIn(given)).toEqual(caughtBy.map((field) => `prediction ${field}`));
  });

  it('is a mismatch when its predecessor is not on chain, open when unreadable', () => {
    expect(wrongIn(evidence({}, { previous: { attestation: null } }))).toEqual(['prediction previous', 'prediction previousPlace']);
    expect(wrongIn(evidence({}, { previous: { attestation: { ...PREVIOUS, time: 1 } } }))).toEqual(['prediction previous']);
    const silent = verifyRow(evidence({}, { previous: { problem: 'it is silent' } }));
    expect(silent).toMatchObject({ verdict: 'verified', open: [{ what: 'the content of the previous prediction', isDue: false }] });
  });

  it('is a mismatch when one close has two prices', () => {
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, openingClose: 1 } }))).toEqual(['record openingClose']);
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, endingClose: 1 } }))).toEqual(['record endingClose']);
  });
});

describe('findNeighbours', () => {
  const row = (sequence: number): ScorecardRow => {
    const at = (days: number) => new Date(OPENS + (sequence - 60 + days) * 24 * HOUR).toISOString();
    return { ...ROW, sequence, windowOpensAt: at(0), resolvesAt: at(2), btcAtSignal: sequence, btcAtResolution: sequence + 2 };
  };

  it('returns the previous row and the closes of adjacent windows', () => {
    const known = [63, 62, 61, 60, 59, 58].map(row);
    expect(findNeighbours(known[3], known)).toEqual({ before: known[4], alike: 1, openingClose: 60, endingClose: 62 });
    expect(findNeighbours(known[5], known)).toEqual({ before: null, alike: 1, openingClose: null, endingClose: 60 });
    expect(findNeighbours(known[0], [...known, known[0]])).toMatchObject({ alike: 2, endingClose: null });
  });
});

import { describe, expect, it } from 'vitest';
import type { ScorecardRow } from '../../../../src/page/browser/responses.ts';
import { findNeighbours } from '../../../../src/page/browser/section.ts';
import {
  before,
  evidence,
  evidenceOf,
  evidenceWith,
  LATE,
  MISSED,
  MISSED_ROW,
  NEIGHBOURS,
  OPEN,
  OPENS,
  openIn,
  PREVIOUS,
  prediction,
  RESOLVES,
  ROW,
  SILENT,
  VOID_ROW,
  verify,
  wrongIn,
} from './evidence.ts';

const HOUR = 3_600_000;

/** Rows that are false or incomplete without contradicting the chain in a value. */
describe('a falsified record', () => {
  it('is unchecked when a loss is shown as unresolved', () => {
    const hidden = (now: number) => verify(evidence(OPEN, { second: null, now: new Date(now) }));
    expect(hidden(RESOLVES + 48 * HOUR)).toMatchObject({ verdict: 'pass', summary: expect.stringMatching(/^Verified so far/) });
    expect(hidden(RESOLVES + 48 * HOUR + 1)).toMatchObject({
      verdict: 'unknown',
      summary: expect.stringMatching(/^Could not be checked: over at 2026-03-04T00:00:00.000Z and not revealed/),
    });
    const open = hidden(RESOLVES + HOUR).findings.find(({ check }) => check === 'revealed');
    expect(open?.because).toBe('its window has ended at 2026-03-04T00:00:00.000Z, and it is not resolved yet');
  });

  it('expects no outcome of a void row', () => {
    const finding = verify(evidence(VOID_ROW, { first: LATE, second: null, now: new Date(RESOLVES + 9_999 * HOUR) }));
    expect(finding).toMatchObject({ verdict: 'pass', stage: 'void', summary: expect.stringMatching(/^Verified as void/) });
    expect(finding.findings.every(({ outcome, isDue }) => outcome === 'pass' || !isDue)).toBe(true);
  });

  it('is a mismatch when it claims an outcome without an attestation', () => {
    expect(wrongIn(evidence({ attestationUid: null }, { prediction: null }))).toEqual(['shown']);
    expect(wrongIn(evidence({ ...OPEN, attestationUid: null, resolutionUid: PREVIOUS.uid }, { prediction: null }))).toEqual(['shown']);
  });

  it('is a mismatch when rows are missing or repeated', () => {
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, before: null }, previous: undefined }))).toEqual(['shown']);
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, alike: 2 } }))).toEqual(['shown']);
    const unattested = { ...NEIGHBOURS, before: { ...ROW, sequence: 59, attestationUid: null } };
    expect(wrongIn(evidence({}, { neighbours: unattested, previous: null }))).toEqual(['link']);
  });

  it('is a mismatch when it is of another horizon', () => {
    expect(wrongIn(evidence({}, { horizon: 7 }))).toEqual(['row']);
  });

  it('is a mismatch when a committed day is shown as missed', () => {
    expect(wrongIn(evidence({ missed: true }))).toEqual(['row']);
    expect(wrongIn(evidence(VOID_ROW, { first: MISSED, second: null }))).toContain('row');
    expect(wrongIn(evidence({ ...MISSED_ROW, status: 'PENDING' }, { first: MISSED, second: null }))).toEqual(['row']);
  });

  it('is a mismatch when it shows parts of a hidden or missed call', () => {
    for (const part of [{ pUp: 0.99 }, { confidence: 0.6 }, { signal: 'BUY' }]) {
      expect(wrongIn(evidence({ ...OPEN, ...part }, { second: null }))).toEqual(['row']);
    }
    expect(wrongIn(evidence({ ...MISSED_ROW, direction: 'UP' }, { first: MISSED, second: null }))).toEqual(['row']);
  });

  it.each([
    ['of another wallet', {}, { attester: `0x${'ee'.repeat(20)}` as const }, ['link']],
    ['of another schema', {}, { schema: `0x${'ee'.repeat(32)}` as const }, ['link']],
    ['of another horizon', { horizonDays: 7 }, {}, ['link']],
    ['of twenty days before', { day: OPENS / 86_400_000 - 21 }, {}, ['sequence']],
    ['of another number', { sequence: 58 }, {}, ['link']],
    ['unreadable', {}, { data: '0x12' as const }, ['link']],
  ])('refers to a predecessor that is %s', (_, place, what, caughtBy) => {
    const previous = before(place, what);
    const neighbours = { ...NEIGHBOURS, before: { ...ROW, sequence: 59, attestationUid: previous.uid } };
    const options = { neighbours, previous: evidenceOf('prediction', previous.uid, previous) };
    expect(wrongIn(evidenceWith(prediction({ refUID: previous.uid }), options))).toEqual(caughtBy);
  });

  it('is a mismatch when its predecessor is not on chain, open when unreadable', () => {
    expect(wrongIn(evidence({}, { previous: evidenceOf('prediction', PREVIOUS.uid, null) }))).toEqual(['link']);
    expect(wrongIn(evidence({}, { previous: evidenceOf('prediction', PREVIOUS.uid, { ...PREVIOUS, time: 1n }) }))).toEqual(['link']);
    const silent = evidence({}, { previous: evidenceOf('prediction', PREVIOUS.uid, SILENT) });
    expect(verify(silent).verdict).toBe('pass');
    expect(openIn(silent)).toEqual(['link']);
  });

  it('is a mismatch when one close has two prices', () => {
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, openingClose: 1 } }))).toEqual(['oneClose']);
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, endingClose: 1 } }))).toEqual(['oneClose']);
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

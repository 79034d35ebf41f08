import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RawAttestation } from '../../../src/chain/eas/schemas.ts';
import { formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import { checkFollows } from '../../../src/verify/checks/record.ts';
import type { AttestationEvidence, ForecastEvidence, Prediction } from '../../../src/verify/evidence.ts';
import { checkAttestation } from '../../../src/verify/evidence.ts';
import { createFindings, NO_SUBJECT } from '../../../src/verify/findings.ts';
import { formatForecastVerdict, getVerdict, listForecastChecks } from '../../../src/verify/summary.ts';
import { checkForecastEvidence, isDue } from '../../../src/verify/verify.ts';
import { buildEvidence, countBytes, EVIDENCE_ATTESTER, FIRST_DAY, type FieldOfContent, flipByte } from '../../support/record/evidence.ts';

const { attestations, prices, now } = buildEvidence();
const CONTEXT = { attester: EVIDENCE_ATTESTER, now };

/** One day ahead, of the second day. */
const [before, , prediction, resolution] = attestations.filter((one) => {
  const made = one.schema === 'prediction' ? one : attestations.find(({ uid }) => uid === (one.content as RawAttestation).refUID)!;
  return decode(made as AttestationEvidence<'prediction'>).data.horizonDays === 1;
}) as [AttestationEvidence<'prediction'>, unknown, AttestationEvidence<'prediction'>, AttestationEvidence<'resolution'>];

function decode(evidence: AttestationEvidence<'prediction'>): Prediction {
  return checkAttestation(evidence, CONTEXT, createFindings())!;
}

const SEARCHED = { since: new Date(toInstantMs(FIRST_DAY - 2)), newest: now };
const VALID = {
  ...{ prediction, resolutions: [resolution], previous: before, prices },
  search: 'complete',
  rivals: { ...SEARCHED, committed: [decode(prediction)] },
} satisfies ForecastEvidence;

function check(change: Partial<ForecastEvidence> = {}, at = now) {
  const findings = createFindings();
  const row = checkForecastEvidence({ ...VALID, ...change }, { ...CONTEXT, now: at }, findings);
  const named = findings.list.map(({ check, outcome, isDue }) => `${check} ${outcome}${isDue ? '' : ', not due'}`);
  return { row, list: findings.list, open: named.filter((name) => !name.endsWith(' pass')), named, verdict: getVerdict(findings.list) };
}

it('complete evidence of an honest forecast leaves only other claims and the rest of the record unchecked', () => {
  const { open, row, list, named } = check();
  expect(open).toEqual([]);
  expect(row).toMatchObject({ opened: true, late: false, missed: false });
  expect(named).toEqual(expect.arrayContaining(['link pass', 'onePrediction pass', 'oneResolution pass', 'price pass', 'opening pass']));
  const { agreeing, total, unchecked } = listForecastChecks(list, row);
  expect([agreeing, total]).toEqual([21, 26]);
  expect(unchecked.map(({ check }) => check)).toEqual(['metadata', 'row', 'move', 'distributions', 'scores']);
  expect(formatForecastVerdict(list, row)).toMatch(
    /^21 of 26 checks agree: .* match: \w+; not checked: metadata, rows, size of the move, distributions, scores, sequence in part$/,
  );
});

it('any changed byte of its two attestations is noticed', () => {
  const fields = Object.keys(prediction.content as RawAttestation) as FieldOfContent[];
  const place = fc.record({ isResolution: fc.boolean(), field: fc.constantFrom(...fields), index: fc.nat(319) });
  fc.assert(
    fc.property(place, fc.integer({ min: 1, max: 255 }), ({ isResolution, field, index }, mask) => {
      const raw = (isResolution ? resolution : prediction).content as RawAttestation;
      const content = flipByte(raw, { field, index: index % countBytes(raw[field]), mask });
      const changed = isResolution ? { resolutions: [{ ...resolution, content }] } : { prediction: { ...prediction, content } };
      expect(check(changed).verdict).toBe('fail');
    }),
    { numRuns: 200 },
  );
});

describe('evidence that was not looked for', () => {
  it('is not checked', () => {
    const { named, verdict } = check({ previous: undefined, rivals: undefined, prices: undefined });
    expect(named.filter((name) => /^(link|onePrediction|price|metadata) /.test(name))).toEqual([]);
    expect(verdict).toBe('pass');
  });

  it('leaves open whether the named resolution is the only one', () => {
    expect(check({ search: undefined }).named).not.toContain('oneResolution pass');
    expect(check({ resolutions: [resolution, { ...resolution, uid: resolution.uid }] }).open).toEqual(['oneResolution fail']);
  });
});

describe('unread evidence', () => {
  const unread = { problem: 'the endpoint refuses' };

  it.each<[string, Partial<ForecastEvidence>, string[]]>([
    ['the prediction', { prediction: { ...prediction, content: unread } }, ['found unknown']],
    ['the resolution', { resolutions: [{ ...resolution, content: unread }] }, ['found unknown']],
    ['the previous forecast', { previous: { ...before, content: unread } }, ['link unknown, not due']],
    ['other predictions', { rivals: unread }, ['onePrediction unknown, not due']],
    ['the list that omits it', { rivals: { ...SEARCHED, committed: [] } }, ['onePrediction unknown, not due']],
    ['prices', { prices: unread }, ['price unknown, not due']],
    ['the metadata', { metadata: unread }, ['metadata unknown, not due']],
  ])('%s never fails, and has its reason', (_, change, open) => {
    const found = check(change);
    expect(found.open).toEqual(open);
    for (const { outcome, because } of found.list) if (outcome === 'unknown') expect(because).toMatch(/.{8}/);
  });

  it('a search that ended early leaves the reveal due', () => {
    const { open, row, list } = check({ resolutions: [], search: { problem: 'searched up to block 7 of 9' } });
    expect(open[0]).toBe('revealed unknown');
    expect(list.some(({ because }) => because === 'searched up to block 7 of 9')).toBe(true);
    expect(row).toMatchObject({ status: 'PENDING', resolution: null });
  });
});

it('a forecast without an attestation cannot be checked, before and after its window opened', () => {
  const windowOpensAt = new Date(toInstantMs(FIRST_DAY + 2));
  const uncommitted = { sequence: 2, day: FIRST_DAY + 1, horizonDays: 1, windowOpensAt };
  for (const [at, because] of [
    [-1, 'it is not on chain yet and must be before 2026-03-03T00:00:00.000Z'],
    [0, 'it is not on chain, and its window opened at 2026-03-03T00:00:00.000Z'],
  ] as const) {
    const found = check({ prediction: uncommitted, resolutions: [] }, new Date(windowOpensAt.getTime() + at));
    expect(found).toMatchObject({ row: null, open: ['found unknown'], verdict: 'unknown' });
    expect(formatForecastVerdict(found.list, found.row)).toBe(`nothing could be checked: ${because}`);
  }
});

it('a rival counts in time only', () => {
  const own = decode(prediction);
  const rival = { ...own, uid: `0x${'77'.repeat(32)}` as const };
  const late = { ...rival, at: own.data.windowOpensAt };
  expect(check({ rivals: { ...SEARCHED, committed: [own, late] } }).open).toEqual([]);
  expect(check({ rivals: { ...SEARCHED, committed: [own, rival] } }).open).toEqual(['onePrediction fail']);
});

describe('the verdict of findings', () => {
  type Kind = 'pass' | 'fail' | 'due' | 'not due';
  const verdictOf = (...kinds: Kind[]) => {
    const findings = createFindings();
    for (const kind of kinds) {
      if (kind === 'pass' || kind === 'fail')
        findings.compare('link', NO_SUBJECT, { field: 'refUid', expected: 1, actual: kind === 'pass' ? 1 : 2 });
      else findings.leave('price', NO_SUBJECT, 'no prices', kind === 'due');
    }
    return getVerdict(findings.list);
  };

  it.each<[Kind[], string]>([
    [['pass', 'not due'], 'pass'],
    [['pass', 'due'], 'unknown'],
    [['not due', 'due', 'pass'], 'unknown'],
    [['due', 'fail', 'pass'], 'fail'],
    [['fail', 'not due'], 'fail'],
    [['not due'], 'pass'],
  ])('of %j is %s', (kinds, verdict) => {
    expect(verdictOf(...kinds)).toBe(verdict);
  });
});

describe('a gap in the sequence', () => {
  const own = decode(prediction);
  const gapBefore = (sequence: number, first?: Prediction) => {
    const findings = createFindings();
    checkFollows({ ...own, data: { ...own.data, sequence } }, first, findings);
    return findings.list.filter(({ field }) => field === 'sequence').map(({ because }) => because);
  };
  const dayOf = (before: number) => formatDay(own.data.day - before);

  it('of one day, or of several, is named with its numbers and days', () => {
    const first = { ...own, data: { ...own.data, sequence: 1 } };
    expect(gapBefore(3, first)).toEqual([`sequence 2 is missing on chain (${dayOf(1)})`]);
    expect(gapBefore(4, first)).toEqual([`sequence 2 to 3 are missing on chain (${dayOf(2)} to ${dayOf(1)})`]);
    expect(gapBefore(2)).toEqual([`sequence 1 is missing on chain (${dayOf(1)}), unless the first block that was read is too late`]);
  });
});

it('the distributions of a void forecast are not due, even when it was resolved', () => {
  const row = check().row!;
  expect([isDue(row), isDue({ ...row, resolution: null }), isDue({ ...row, status: 'VOID' })]).toEqual([true, false, false]);
});

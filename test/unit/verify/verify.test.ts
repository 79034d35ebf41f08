import fc from 'fast-check';
import { zeroHash } from 'viem';
import { describe, expect, it } from 'vitest';
import type { RawAttestation } from '../../../src/chain/eas/schemas.ts';
import { parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { CheckedRow } from '../../../src/verify/checks/forecast.ts';
import type { AttestationEvidence, ClaimedRow } from '../../../src/verify/evidence.ts';
import { createFindings, type Finding, formatSubject } from '../../../src/verify/findings.ts';
import { formatRecordVerdict, getVerdict } from '../../../src/verify/summary.ts';
import { checkRecord, compareRows, decodeRecord, type RowContext } from '../../../src/verify/verify.ts';
import { buildEvidence, countBytes, EVIDENCE_ATTESTER, type FieldOfContent, flipByte } from '../../support/record/evidence.ts';

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
describe('evidence', () => {
  const VALID = buildEvidence();
  /** Of one day: each attestation is hashed again for each changed byte. */
  const SHORT = buildEvidence(1);

  function check(attestations: readonly AttestationEvidence[], { prices, now } = VALID, isQuick = false): readonly Finding[] {
    const findings = createFindings();
    const record = decodeRecord(attestations, { attester: EVIDENCE_ATTESTER, now }, findings);
    // What fails by itself need not be compared with the rest.
    if (isQuick && getVerdict(findings.list) === 'fail') return findings.list;
    checkRecord({ record, prices, history: null, claims: null, now }, findings);
    return findings.list;
  }

  const failing = (findings: readonly Finding[]) => [...new Set(findings.flatMap((one) => (one.outcome === 'pass' ? [] : [one.check])))];

  const contentOf = (index: number, { attestations } = VALID) => attestations[index].content as RawAttestation;

  function replace(index: number, change: Partial<AttestationEvidence>, { attestations } = VALID): AttestationEvidence[] {
    return attestations.map((one, at) => (at === index ? ({ ...one, ...change } as AttestationEvidence) : one));
  }

  it('valid evidence passes every check', () => {
    const findings = check(VALID.attestations);
    expect(failing(findings)).toEqual([]);
    expect(failing(check(SHORT.attestations, SHORT))).toEqual([]);
    expect(formatRecordVerdict(findings)).toMatch(/^\d{3} checks agree$/);
  });

  describe('a changed byte', () => {
    const FIELDS = Object.keys(contentOf(0)) as FieldOfContent[];

    it.each([
      ['a prediction', 2],
      ['a resolution', 3],
    ])('of %s is noticed in each place', (_, index) => {
      const valid = contentOf(index, SHORT);
      let flips = 0;
      for (const field of FIELDS) {
        for (let byte = 0; byte < countBytes(valid[field]); byte++) {
          const content = flipByte(valid, { field, index: byte, mask: 1 << (flips % 8) });
          const findings = check(replace(index, { content }, SHORT), SHORT, true);
          expect(getVerdict(findings), `${field}, byte ${byte}`).toBe('fail');
          flips += 1;
        }
      }
      expect(flips).toBeGreaterThan(400);
    });

    it('of any attestation is noticed, whichever bits it changes', () => {
      const place = fc.record({ at: fc.nat(VALID.attestations.length - 1), field: fc.constantFrom(...FIELDS), index: fc.nat(319) });
      fc.assert(
        fc.property(place, fc.integer({ min: 1, max: 255 }), ({ at, field, index }, mask) => {
          const content = flipByte(contentOf(at), { field, index: index % countBytes(contentOf(at)[field]), mask });
          expect(getVerdict(check(replace(at, { content }), VALID, true))).toBe('fail');
        }),
        { numRuns: 200 },
      );
    });

    it('of a block time or a deciding close is noticed', () => {
      for (const [index, { blockAt }] of VALID.attestations.entries()) {
        expect(failing(check(replace(index, { blockAt: new Date(Number(blockAt) + 1_000) })))).toContain('blockTime');
      }
      for (const [day, usd] of VALID.prices.closes) {
        const closes = new Map(VALID.prices.closes).set(day, usd + 0.01);
        const isDeciding = day < [...VALID.prices.closes.keys()].at(-1)!;
        expect(failing(check(VALID.attestations, { ...VALID, prices: { ...VALID.prices, closes } })).includes('price')).toBe(isDeciding);
      }
    });
  });

  describe('bad evidence', () => {
    const raw = contentOf(2);
    const TRUNCATED = raw.data.slice(0, -64) as RawAttestation['data'];

    it.each<[string, Partial<AttestationEvidence>, string, Finding['outcome']]>([
      ['an omitted attestation', { content: null }, 'found', 'fail'],
      ['an empty answer', { content: { ...raw, uid: zeroHash } }, 'found', 'fail'],
      ['another attestation in its place', { content: contentOf(4) }, 'found', 'fail'],
      ['an endpoint that refuses', { content: { problem: 'the endpoint refuses' } }, 'found', 'unknown'],
      ['truncated data', { content: { ...raw, data: TRUNCATED } }, 'uid', 'fail'],
      ['surplus data', { content: { ...raw, data: `${raw.data}00` } }, 'uid', 'fail'],
      ['data that is no hex', { content: { ...raw, data: '0xzz' } }, 'uid', 'fail'],
      ['an address that is none', { content: { ...raw, attester: '0x12' } }, 'uid', 'fail'],
      ['a time beyond all dates', { content: { ...raw, time: 2n ** 63n } }, 'uid', 'fail'],
      ['a number beyond its type', { content: { ...raw, expirationTime: 2n ** 70n } }, 'uid', 'fail'],
      ['a foreign attester', { content: { ...raw, attester: `0x${'b2'.repeat(20)}` } }, 'attester', 'fail'],
      ['a foreign schema', { content: { ...raw, schema: zeroHash } }, 'schema', 'fail'],
    ])('%s is never a pass, and has a reason', (_, change, expected, outcome) => {
      const findings = check(replace(2, change));
      const found = findings.find((one) => one.check === expected && one.outcome === outcome);
      expect(found?.because).toMatch(/.{8}/);
      expect(getVerdict(findings)).not.toBe('pass');
    });

    it('a future date leaves the verdict open', () => {
      const now = new Date(Number(VALID.attestations.at(-1)!.blockAt) - 600_000);
      const findings = check(VALID.attestations, { ...VALID, now });
      expect(getVerdict(findings)).toBe('unknown');
      expect(findings.find(({ outcome }) => outcome === 'unknown')?.because).toContain('after the');
    });

    it('a repeated attestation counts once, and order does not matter', () => {
      const reversed = VALID.attestations.toReversed();
      expect(failing(check([...reversed, ...VALID.attestations]))).toEqual([]);
    });

    it('anything in the place of content gives findings, not an exception', () => {
      const value = fc.oneof(fc.constant(zeroHash), fc.string(), fc.bigInt(), fc.boolean(), fc.constant(undefined), fc.integer());
      const fields = Object.keys(raw) as FieldOfContent[];
      fc.assert(
        fc.property(fc.constantFrom(...fields), value, (field, wrong) => {
          fc.pre(wrong !== contentOf(2, SHORT)[field]);
          const content = { ...contentOf(2, SHORT), [field]: wrong } as RawAttestation;
          const findings = check(replace(2, { content }, SHORT), SHORT, true);
          expect(getVerdict(findings)).not.toBe('pass');
        }),
        { numRuns: 500 },
      );
    });
  });
});

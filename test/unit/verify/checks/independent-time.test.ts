import { sha256, stringToBytes, zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import type { PredictionData } from '../../../../src/chain/eas/attestation-schemas.ts';
import { toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { checkIndependentTime } from '../../../../src/verify/checks/independent-time.ts';
import type { Prediction, ServedTimestamp } from '../../../../src/verify/evidence.ts';
import { createFindings } from '../../../../src/verify/findings.ts';
import { formatRecordVerdict, getVerdict } from '../../../../src/verify/summary.ts';
import { parseBlockHeader } from '../../../../src/verify/timestamps/bitcoin-block.ts';
import { buildDayDocument } from '../../../../src/verify/timestamps/day-document.ts';
import type { OtsAttestation } from '../../../../src/verify/timestamps/ots-attestations.ts';
import { serializeOtsFile } from '../../../../src/verify/timestamps/ots-file.ts';
import type { TimestampTree } from '../../../../src/verify/timestamps/ots-tree.ts';
import { mineHeader } from '../../../support/timestamps/bitcoin-blocks.ts';

const DAY = toDay(Date.parse('2026-08-20'));
const [UID, COMMITMENT] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`] as const;
const windowOpensAt = new Date(toInstantMs(DAY + 1));
const resolvesAt = new Date(toInstantMs(DAY + 2));
const data = { day: DAY, horizonDays: 1, sequence: 4, commitment: COMMITMENT, windowOpensAt, resolvesAt } as PredictionData;
const PREDICTION: Prediction = { uid: UID, at: new Date('2026-08-20T21:38:00Z'), refUid: UID, data };

const listed = { horizonDays: 1, sequence: 4, uid: UID, commitment: COMMITMENT } as const;
const buildDocument = (commitment: typeof COMMITMENT | typeof UID = COMMITMENT) =>
  buildDayDocument({ day: DAY, chainId: 8_453, eas: zeroAddress, attester: zeroAddress, commitments: [{ ...listed, commitment }] });
const DOCUMENT = buildDocument();
const DIGEST = sha256(stringToBytes(DOCUMENT), 'bytes');
const ROOT = sha256(DIGEST, 'bytes');

const prove = (attestations: OtsAttestation[], message = DIGEST): Uint8Array => {
  const tree: TimestampTree = { message: sha256(message, 'bytes'), attestations, branches: [] };
  return serializeOtsFile({ message, attestations: [], branches: [{ operation: { name: 'sha256' }, tree }] });
};
const IN_BLOCK = prove([{ kind: 'bitcoin', height: 900_000 }]);
const mine = (at: string, root = ROOT) => parseBlockHeader(mineHeader(root, new Date(at)));
const BLOCK = mine('2026-08-20T23:20:00Z');

function check(served: Partial<ServedTimestamp> | { problem: string } = {}) {
  const findings = createFindings();
  const given = 'problem' in served ? served : { document: DOCUMENT, proof: IN_BLOCK, ...served };
  checkIndependentTime(PREDICTION, given, findings);
  const [first] = findings.list;
  return { ...first, count: findings.list.length, list: findings.list, notes: findings.notes };
}

const neutral = { outcome: 'unknown', isDue: false, count: 1 };

describe('independent time', () => {
  it('passes when a named source has the Merkle root in a block before the window ends', () => {
    const found = check({ blocks: new Map([[900_000, BLOCK]]) });
    expect(found).toMatchObject({ outcome: 'pass', actual: 'Bitcoin block 900000 of 2026-08-20T23:20:00.000Z', count: 1 });
  });

  it.each<[string, Parameters<typeof check>[0], RegExp]>([
    ['evidence that could not be read', { problem: 'the service does not answer' }, /^the service does not answer$/],
    ['a document without a proof', { proof: null }, /no calendar has accepted/],
    ['a pending proof', { proof: prove([{ kind: 'pending', uri: 'https://a.example' }]) }, /pending at https:\/\/a\.example$/],
    [
      'a proof of a kind that is not known',
      { proof: prove([{ kind: 'unknown', tag: '0x0102030405060708', payload: '0x' }]) },
      /no Bitcoin block/,
    ],
    ['a proof without a source of blocks', {}, new RegExp(`Merkle root ${BLOCK.merkleRoot} of Bitcoin block 900000: compare it`)],
    ['a block that the source does not return', { blocks: new Map([[900_000, { problem: 'it answers 404' }]]) }, /^it answers 404$/],
    ['a block that was not read', { blocks: new Map() }, /block 900000 was not read/],
    [
      'a block less than two hours before the end of the window',
      { blocks: new Map([[900_000, mine('2026-08-21T22:00:01Z')]]) },
      /is no proof: its window ended/,
    ],
  ])('is left open with its reason for %s', (_, served, because) => {
    expect(check(served)).toMatchObject({ ...neutral, because: expect.stringMatching(because) });
  });

  it.each<[string, Partial<ServedTimestamp>]>([
    ['lists another commitment', { document: buildDocument(UID) }],
    ['lists no commitments', { document: '{}' }],
    ['is no JSON', { document: '' }],
  ])('names a wrong timestamp whose document %s', (_, served) => {
    expect(check(served)).toMatchObject({ outcome: 'fail', field: 'document', because: expect.stringContaining('WRONG TIMESTAMP') });
  });

  it.each<[string, Partial<ServedTimestamp>, RegExp]>([
    ['a proof of another document', { proof: prove([{ kind: 'bitcoin', height: 1 }], ROOT) }, /another document/],
    ['an unreadable proof', { proof: IN_BLOCK.subarray(0, -1) }, /truncated/],
    ['another Merkle root', { blocks: new Map([[900_000, mine('2026-08-20T23:20:00Z', DIGEST)]]) }, /does not arrive at the Merkle root/],
  ])('names a wrong timestamp with %s, and leaves the verdict to the chain', (_, served, because) => {
    const found = check(served);
    expect(found).toMatchObject({ outcome: 'fail', because: expect.stringMatching(because) });
    expect(getVerdict(found.list)).toBe('pass');
    expect(formatRecordVerdict(found.list)).toMatch(/^0 checks agree; WRONG TIMESTAMP: /);
  });

  it('passes by one calendar, and notes the wrong block of another', () => {
    const proof = prove([
      { kind: 'bitcoin', height: 899_000 },
      { kind: 'bitcoin', height: 900_000 },
    ]);
    const blocks = new Map([
      [899_000, mine('2026-08-20T22:00:00Z', DIGEST)],
      [900_000, BLOCK],
    ]);
    const found = check({ proof, blocks });
    expect(found).toMatchObject({ outcome: 'pass', actual: expect.stringContaining('block 900000') });
    expect(found.notes).toEqual([expect.stringContaining('Bitcoin block 899000')]);
  });
});

describe('a block header', () => {
  // The first block of Bitcoin.
  const GENESIS =
    '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c';

  it('has its hash, Merkle root and time', () => {
    expect(parseBlockHeader(GENESIS)).toEqual({
      hash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
      merkleRoot: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
      at: new Date('2009-01-03T18:15:05Z'),
    });
  });

  it('is rejected when it was changed, or is of another length', () => {
    expect(() => parseBlockHeader(GENESIS.replace('1e5e4a', '1e5e4b'))).toThrow('does not meet its target');
    expect(() => parseBlockHeader(GENESIS.slice(2))).toThrow('80 bytes');
  });
});

import { type Hex, zeroAddress, zeroHash } from 'viem';
import { encodePrediction, encodeResolution, getSchemaUid, type RawAttestation, type SchemaName } from '../../../src/chain/eas/schemas.ts';
import { type Day, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { type AttestationEvidence, deriveAttestationUid, type PriceEvidence } from '../../../src/verify/evidence.ts';
import { AUDITED_HORIZONS, closeUsd, predictionOf, resolutionOf } from './audit-record.ts';

export const EVIDENCE_ATTESTER = `0x${'a1'.repeat(20)}` as const;
export const FIRST_DAY: Day = parseDay('2026-03-01');

export interface ValidEvidence {
  attestations: AttestationEvidence[];
  prices: PriceEvidence;
  now: Date;
}

/** The evidence of an honest record, as the chain and a price source would give it. */
export function buildEvidence(days = 4): ValidEvidence {
  const attestations: AttestationEvidence[] = [];
  const previous = new Map<number, Hex>();
  for (let index = 0; index < days; index++) {
    for (const horizonDays of AUDITED_HORIZONS) {
      const place = { firstDay: FIRST_DAY, index, horizonDays };
      const { refUid, ...prediction } = predictionOf(place, previous.get(horizonDays));
      const made = attest('prediction', encodePrediction(prediction), { refUid, at: toInstantMs(prediction.day, 21, 38) });
      previous.set(horizonDays, made.uid);
      const over = toInstantMs(prediction.day + 1 + horizonDays, 0, 5);
      attestations.push(made, attest('resolution', encodeResolution(resolutionOf(place)), { refUid: made.uid, at: over }));
    }
  }
  const closes = new Map(Array.from({ length: days + 4 }, (_, index) => [FIRST_DAY + index, closeUsd(FIRST_DAY + index)]));
  const prices = { source: 'the prices of the test', toleranceBps: 0, endsOn: null, closes };
  return { attestations, prices, now: new Date(toInstantMs(FIRST_DAY + days + 4)) };
}

function attest(schema: SchemaName, data: Hex, { refUid = zeroHash, at }: { refUid?: Hex; at: number }): AttestationEvidence {
  const time = BigInt(at / 1000);
  const content = {
    ...{ schema: getSchemaUid(schema), recipient: zeroAddress, attester: EVIDENCE_ATTESTER, time, refUID: refUid, data },
    ...{ expirationTime: 0n, revocationTime: 0n, revocable: false },
  };
  const uid = deriveAttestationUid(content);
  return { uid, schema, content: { uid, ...content }, blockAt: new Date(at) };
}

export type FieldOfContent = keyof RawAttestation;

/** Every byte of an attestation as the contract returns it. */
export function countBytes(value: RawAttestation[FieldOfContent]): number {
  if (typeof value === 'boolean') return 1;
  return typeof value === 'bigint' ? 8 : (value.length - 2) / 2;
}

/** The attestation with one byte of one field changed. @param mask of the bits that flip, 1 to 255 */
export function flipByte(
  content: RawAttestation,
  { field, index, mask }: { field: FieldOfContent; index: number; mask: number },
): RawAttestation {
  const value = content[field];
  if (typeof value === 'boolean') return { ...content, [field]: !value };
  if (typeof value === 'bigint') return { ...content, [field]: value ^ (BigInt(mask) << BigInt(8 * index)) };
  const bytes = Buffer.from(value.slice(2), 'hex');
  bytes[index] ^= mask;
  return { ...content, [field]: `0x${bytes.toString('hex')}` };
}

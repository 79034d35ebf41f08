import { bytesToHex, bytesToString, type Hex, hexToBytes, stringToBytes } from 'viem';
import { encodeNumber, encodeSizedBytes, InvalidTimestampError, OtsReader } from './ots-bytes.ts';

/** The end of a branch: a promise of a calendar, or a Bitcoin block whose Merkle root the message is. Others are kept as they are. */
export type OtsAttestation =
  | { kind: 'pending'; uri: string }
  | { kind: 'bitcoin'; height: number }
  | { kind: 'unknown'; tag: Hex; payload: Hex };

const TAGS = { pending: '0x83dfe30d2ef90c8e', bitcoin: '0x0588960d73d71901' } as const;
const TAG_BYTES = 8;
const MAX_PAYLOAD_BYTES = 8_192;
const MAX_URI_BYTES = 1_000;

/** Characters that the reference implementation allows: no query, no fragment, no user name. */
const URI = /^[A-Za-z0-9._/:-]*$/;

/** @throws InvalidTimestampError for a malformed one */
export function readAttestation(reader: OtsReader): OtsAttestation {
  const tag = bytesToHex(reader.readBytes(TAG_BYTES));
  const payload = reader.readSizedBytes({ max: MAX_PAYLOAD_BYTES });
  if (tag !== TAGS.pending && tag !== TAGS.bitcoin) return { kind: 'unknown', tag, payload: bytesToHex(payload) };
  const content = new OtsReader(payload);
  const attestation = tag === TAGS.bitcoin ? ({ kind: 'bitcoin', height: content.readNumber() } as const) : readPending(content);
  content.requireEnd();
  return attestation;
}

function readPending(content: OtsReader): OtsAttestation {
  const uri = bytesToString(content.readSizedBytes({ max: MAX_URI_BYTES }));
  if (!URI.test(uri)) throw new InvalidTimestampError('a calendar of the timestamp has an invalid address');
  return { kind: 'pending', uri };
}

export function encodeAttestation(attestation: OtsAttestation): number[] {
  const tag = attestation.kind === 'unknown' ? attestation.tag : TAGS[attestation.kind];
  return [...hexToBytes(tag), ...encodeSizedBytes(Uint8Array.from(encodePayload(attestation)))];
}

function encodePayload(attestation: OtsAttestation): Iterable<number> {
  if (attestation.kind === 'bitcoin') return encodeNumber(attestation.height);
  return attestation.kind === 'pending' ? encodeSizedBytes(stringToBytes(attestation.uri)) : hexToBytes(attestation.payload);
}

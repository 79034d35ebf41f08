import { type Address, concatHex, decodeFunctionData, type Hex, keccak256, numberToHex, size, toFunctionSelector } from 'viem';
import { easAbi } from '../../../chain/eas/abi.ts';
import { deriveAttestationUid } from '../../../verify/attestation-uid.ts';

/** A transaction's request, as far as its attestations are concerned. */
export interface AttestingRequest {
  from: Address;
  data: Hex;
}

const WORD_BYTES = 32;
/** Storage of EAS 1.x as compiled: slot of the mapping from a uid to its attestation, number of an attestation's fields, its last one. */
const ATTESTATIONS = toWord(4n);
const FIELDS = 7n;
const DATA_FIELD = 6n;
const MULTI_ATTEST = toFunctionSelector(easAbi.find((item) => item.type === 'function' && item.name === 'multiAttest')!);

/** The slots that the attestations of a `multiAttest` take in a block at `time` (Unix seconds); none for other calls. */
export function listAttestationSlots({ from, data: input }: AttestingRequest, time: number): Hex[] {
  if (!input.startsWith(MULTI_ATTEST)) return [];
  const { args } = decodeFunctionData({ abi: easAbi, data: input });
  const [requests] = args as Extract<typeof args, readonly [readonly { schema: Hex }[]]>;
  return requests.flatMap(({ schema, data: items }) =>
    items.flatMap((item) => {
      const uid = deriveAttestationUid({ ...item, schema, attester: from, time: BigInt(time) });
      return listSlotsOf(uid, size(item.data));
    }),
  );
}

/** @param dataBytes over 31; shorter data is stored in its field */
function listSlotsOf(uid: Hex, dataBytes: number): Hex[] {
  const first = BigInt(keccak256(concatHex([uid, ATTESTATIONS])));
  const firstOfData = BigInt(keccak256(toWord(first + DATA_FIELD)));
  return [...listFrom(first, FIELDS), ...listFrom(firstOfData, BigInt(Math.ceil(dataBytes / WORD_BYTES)))];
}

function listFrom(first: bigint, count: bigint): Hex[] {
  return Array.from({ length: Number(count) }, (_, index) => toWord(first + BigInt(index)));
}

function toWord(value: bigint): Hex {
  return numberToHex(BigInt.asUintN(256, value), { size: WORD_BYTES });
}

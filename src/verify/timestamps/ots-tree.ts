import { encodeAttestation, type OtsAttestation, readAttestation } from './ots-attestations.ts';
import { InvalidTimestampError, OtsReader } from './ots-bytes.ts';
import { applyOperation, encodeOperation, type OtsOperation, readOperation } from './ots-operations.ts';

/** A message, what attests it, and the messages that operations make of it. */
export interface TimestampTree {
  message: Uint8Array;
  attestations: readonly OtsAttestation[];
  branches: readonly { operation: OtsOperation; tree: TimestampTree }[];
}

const ATTESTATION = 0x00;
/** Precedes each entry of a node but the last. */
const ANOTHER = 0xff;
/** As in the reference implementation. */
const MAX_DEPTH = 256;
/** A proof of one calendar has about a hundred. */
const MAX_ENTRIES = 4_000;

/**
 * The proof of a message in the binary format of calendars (python-opentimestamps, `core/timestamp.py`); all messages are computed.
 * @throws InvalidTimestampError for anything but exactly one valid timestamp within the limits
 */
export function parseTimestamp(bytes: Uint8Array, message: Uint8Array, maxEntries = MAX_ENTRIES): TimestampTree {
  const reader = new OtsReader(bytes);
  const tree = readTree(reader, message, maxEntries);
  reader.requireEnd();
  return tree;
}

/** @throws InvalidTimestampError */
export function readTree(reader: OtsReader, message: Uint8Array, maxEntries = MAX_ENTRIES): TimestampTree {
  let entries = 0;
  const readNode = (of: Uint8Array, depth: number): TimestampTree => {
    if (depth > MAX_DEPTH) throw new InvalidTimestampError('the timestamp is nested too deeply');
    const attestations: OtsAttestation[] = [];
    const branches: { operation: OtsOperation; tree: TimestampTree }[] = [];
    for (let isLast = false; !isLast; ) {
      const first = reader.readByte();
      isLast = first !== ANOTHER;
      const tag = isLast ? first : reader.readByte();
      if (++entries > maxEntries) throw new InvalidTimestampError(`the timestamp has more than ${maxEntries} steps`);
      if (tag === ATTESTATION) attestations.push(readAttestation(reader));
      else {
        const operation = readOperation(reader, tag);
        branches.push({ operation, tree: readNode(applyOperation(operation, of), depth + 1) });
      }
    }
    return { message: of, attestations, branches };
  };
  return readNode(message, 0);
}

/** Attestations, then operations, each in the order of their bytes: equal proofs have equal bytes. */
export function serializeTimestamp({ attestations, branches }: TimestampTree): Uint8Array {
  const entries = [
    ...attestations.map((one) => [ATTESTATION, ...encodeAttestation(one)]).sort(compareBytes),
    ...branches
      .map(({ operation, tree }) => ({ step: encodeOperation(operation), tree }))
      .sort((a, b) => compareBytes(a.step, b.step))
      .map(({ step, tree }) => [...step, ...serializeTimestamp(tree)]),
  ];
  return Uint8Array.from(entries.flatMap((entry, index) => (index < entries.length - 1 ? [ANOTHER, ...entry] : entry)));
}

function compareBytes(a: readonly number[], b: readonly number[]): number {
  const differs = a.findIndex((byte, index) => byte !== b[index]);
  return differs < 0 ? a.length - b.length : a[differs]! - (b[differs] ?? -1);
}

/** Both proofs of the same message as one. @throws Error for proofs of different messages */
export function mergeTimestamps(a: TimestampTree, b: TimestampTree): TimestampTree {
  if (compareBytes([...a.message], [...b.message]) !== 0) throw new Error('timestamps of different messages cannot be merged');
  const attestations = new Map([...a.attestations, ...b.attestations].map((one) => [encodeAttestation(one).join(), one]));
  const branches = new Map<string, { operation: OtsOperation; tree: TimestampTree }>();
  for (const { operation, tree } of [...a.branches, ...b.branches]) {
    const key = encodeOperation(operation).join();
    const known = branches.get(key);
    branches.set(key, { operation, tree: known === undefined ? tree : mergeTimestamps(known.tree, tree) });
  }
  return { message: a.message, attestations: [...attestations.values()], branches: [...branches.values()] };
}

/** The proof with `addition` merged in wherever it has its message. */
export function extendTimestamp(tree: TimestampTree, addition: TimestampTree): TimestampTree {
  const branches = tree.branches.map(({ operation, tree: next }) => ({ operation, tree: extendTimestamp(next, addition) }));
  const extended = { ...tree, branches };
  return compareBytes([...tree.message], [...addition.message]) === 0 ? mergeTimestamps(extended, addition) : extended;
}

/** Every attestation, with the message that it attests. */
export function listAttestations({
  message,
  attestations,
  branches,
}: TimestampTree): { message: Uint8Array; attestation: OtsAttestation }[] {
  const own = attestations.map((attestation) => ({ message, attestation }));
  return [...own, ...branches.flatMap(({ tree }) => listAttestations(tree))];
}

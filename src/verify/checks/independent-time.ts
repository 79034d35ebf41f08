import { bytesToHex, sha256, stringToBytes } from 'viem';
import { getErrorMessage } from '../../platform/errors.ts';
import { isUnread, type Prediction, type ServedTimestamp, type Unread } from '../evidence.ts';
import { type FindingSubject, type Findings, formatInstant } from '../findings.ts';
import { type BitcoinBlock, formatHash } from '../timestamps/bitcoin-block.ts';
import { findStampedCommitment } from '../timestamps/day-document.ts';
import { parseOtsFile } from '../timestamps/ots-file.ts';
import { listAttestations, type TimestampTree } from '../timestamps/ots-tree.ts';
import { toSubject } from './prediction.ts';

/** Bitcoin accepts blocks whose time is this far ahead. */
const MAX_BLOCK_LEAD_MS = 7_200_000;

/** A Merkle root that a proof arrives at, in the form of explorers. */
export interface StampedBlock {
  height: number;
  merkleRoot: string;
}

/**
 * Corroborates the block time of a forecast by the OpenTimestamps proof of its day. Evidence that is missing or pending is left open, and
 * not even a wrong proof changes the verdict: the chain decides.
 */
export function checkIndependentTime(prediction: Prediction, served: ServedTimestamp | Unread, findings: Findings): void {
  const subject = toSubject(prediction);
  const leave = (because: string) => findings.leave('independentTime', subject, because, false);
  if (isUnread(served)) leave(served.problem);
  else if (!checkDocument(prediction, served, findings)) return;
  else if (served.proof === null) leave('no calendar has accepted the commitments of its day yet');
  else {
    const tree = readProof(served.document, served.proof, { subject, findings });
    if (tree === null) return;
    const stamped = listStampedBlocks(tree);
    if (stamped.length === 0) leave(`no Bitcoin block holds the commitments of its day yet: pending at ${listCalendars(tree)}`);
    else if (served.blocks === undefined) leave(`${stamped.map(formatBlock).join(', ')}: compare it with a source of your own`);
    else checkBlocks(prediction, stamped, { blocks: served.blocks, findings });
  }
}

/** @returns whether the stamped document lists the commitment */
function checkDocument(prediction: Prediction, { document }: ServedTimestamp, findings: Findings): boolean {
  const { commitment } = prediction.data;
  const actual = findStampedCommitment(document, prediction.uid);
  if (actual === commitment.toLowerCase()) return true;
  const because = 'WRONG TIMESTAMP: the stamped document of its day does not list this commitment';
  findings.fail('independentTime', toSubject(prediction), { field: 'document', expected: commitment, actual, because });
  return false;
}

type Reported = { subject: FindingSubject; findings: Findings };

function readProof(document: string, proof: Uint8Array, { subject, findings }: Reported): TimestampTree | null {
  const expected = sha256(stringToBytes(document));
  const fail = (actual: string, because: string) =>
    findings.fail('independentTime', subject, { field: 'proof', expected, actual, because: `WRONG TIMESTAMP: ${because}` });
  try {
    const tree = parseOtsFile(proof);
    const actual = bytesToHex(tree.message);
    if (actual === expected) return tree;
    fail(actual, 'the proof is of another document than that of its day');
  } catch (error) {
    fail('unreadable', getErrorMessage(error));
  }
  return null;
}

/** The Bitcoin blocks that a proof names, the lowest first. */
export function listStampedBlocks(tree: TimestampTree): StampedBlock[] {
  const found = listAttestations(tree).flatMap(({ message, attestation }) =>
    attestation.kind === 'bitcoin' ? [{ height: attestation.height, merkleRoot: formatHash(message) }] : [],
  );
  return found.sort((a, b) => a.height - b.height);
}

function listCalendars(tree: TimestampTree): string {
  const uris = listAttestations(tree).flatMap(({ attestation }) => (attestation.kind === 'pending' ? [attestation.uri] : []));
  return uris.length === 0 ? 'no calendar that is named' : [...new Set(uris)].sort().join(', ');
}

function formatBlock({ height, merkleRoot }: StampedBlock): string {
  return `its proof ends at the Merkle root ${merkleRoot} of Bitcoin block ${height}`;
}

type KnownBlocks = { blocks: NonNullable<ServedTimestamp['blocks']>; findings: Findings };

/** One agreeing block suffices: calendars are independent of each other. */
function checkBlocks(prediction: Prediction, stamped: readonly StampedBlock[], { blocks, findings }: KnownBlocks): void {
  const subject = toSubject(prediction);
  const read = stamped.map((one) => ({ ...one, block: blocks.get(one.height) ?? { problem: `block ${one.height} was not read` } }));
  const known = read.filter((one): one is StampedBlock & { block: BitcoinBlock } => !isUnread(one.block));
  const [first] = known.filter(({ merkleRoot, block }) => merkleRoot === block.merkleRoot);
  const wrong = known.filter(({ merkleRoot, block }) => merkleRoot !== block.merkleRoot);
  const describeWrong = ({ height, block }: (typeof wrong)[number]) =>
    `the proof does not arrive at the Merkle root of Bitcoin block ${height}, ${block.hash}`;
  if (first !== undefined) {
    for (const one of wrong) findings.note(`WRONG TIMESTAMP: of one calendar, ${describeWrong(one)}; that of another does`);
    confirm(prediction, first, findings);
  } else if (wrong.length > 0) {
    const { merkleRoot, block } = wrong[0]!;
    const because = `WRONG TIMESTAMP: ${describeWrong(wrong[0]!)}`;
    findings.fail('independentTime', subject, { field: 'merkleRoot', expected: block.merkleRoot, actual: merkleRoot, because });
  } else
    findings.leave('independentTime', subject, read.flatMap(({ block }) => (isUnread(block) ? [block.problem] : [])).join('; '), false);
}

function confirm(prediction: Prediction, { height, block }: StampedBlock & { block: BitcoinBlock }, findings: Findings): void {
  const subject = toSubject(prediction);
  const actual = `Bitcoin block ${height} of ${formatInstant(block.at)}`;
  const { resolvesAt } = prediction.data;
  if (block.at.getTime() + MAX_BLOCK_LEAD_MS <= resolvesAt.getTime()) {
    findings.compare('independentTime', subject, { field: 'time', expected: actual, actual });
  } else findings.leave('independentTime', subject, `${actual} is no proof: its window ended at ${formatInstant(resolvesAt)}`, false);
}

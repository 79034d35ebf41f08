import type { Hex } from 'viem';
import { OracleError } from '../errors.ts';
import { type Commitment, commitmentId } from './commitment.ts';
import type { ContestParts } from './parts.ts';
import { type MarketDoc, type RoundDoc, roundIdOf } from './round.ts';
import { commitmentHash, domainOf } from './typed-data.ts';

/** How far the clock of a signer may be off. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

export interface SignedCommitment extends Commitment {
  signature: Hex;
}

export interface CommitReceipt {
  round: RoundDoc;
  market: MarketDoc;
  committedAt: Date;
  /** Whether an older commitment of this wallet for this market gave way. */
  replaced: boolean;
  /** The hash that was signed. */
  digest: Hex;
}

/**
 * Takes a commitment until its round opens. The newest of a wallet and market counts; one that is not newer is refused, so that nobody
 * who kept an old signature can bring it back.
 * @throws OracleError NOT_FOUND, CONFLICT, INPUT_INVALID, UNAUTHENTICATED, CHAIN_UNREACHABLE, STEP_WAITING while the clocks disagree
 */
export async function commit(parts: ContestParts, { signature, ...commitment }: SignedCommitment): Promise<CommitReceipt> {
  const { round, market } = await findMarket(parts, commitment.market);
  requireOpen(round, parts.now());
  requireRecent(commitment.issuedAtMs, parts.now());
  const digest = await requireSigned(parts, commitment, signature);
  // Once more: asking a contract wallet takes time, and what is stored is public soon after the opening.
  const committedAt = parts.now();
  requireOpen(round, committedAt);
  const ahead = await parts.time.precede(round.opensAt.getTime());
  if (ahead === null) throw ended(round);
  const roundId = round._id;
  const put = await parts.commitments.put({ ...commitment, _id: commitmentId(commitment), roundId, signature, committedAt }, ahead);
  if (put === 'stale') throw stale(commitment);
  return { round, market, committedAt, replaced: put === 'replaced', digest };
}

/** @throws OracleError NOT_FOUND */
export async function findMarket({ rounds }: ContestParts, id: string): Promise<{ round: RoundDoc; market: MarketDoc }> {
  const roundId = roundIdOf(id);
  const round = roundId === null ? null : await rounds.find(roundId);
  const market = round?.markets.find((one) => one.id === id);
  if (round && market) return { round, market };
  throw new OracleError('NOT_FOUND', 'There is no such market', {
    field: 'market',
    suggestedAction: 'GET /api/svc/clawstake/markets lists all markets with their ids.',
  });
}

function requireOpen(round: RoundDoc, now: Date): void {
  if (now >= round.opensAt) throw ended(round);
}

function ended(round: RoundDoc): OracleError {
  return new OracleError('CONFLICT', `Commitments for round ${round._id} ended at ${round.opensAt.toISOString()}`, {
    field: 'market',
    suggestedAction: 'Commit to a market of the open round: GET /api/svc/clawstake/status names it.',
    details: { round: round._id, deadline: round.opensAt.toISOString() },
  });
}

function requireRecent(issuedAtMs: number, now: Date): void {
  if (Math.abs(now.getTime() - issuedAtMs) <= CLOCK_TOLERANCE_MS) return;
  throw new OracleError('INPUT_INVALID', 'issuedAtMs is more than 5 minutes from the time of the service', {
    field: 'issuedAtMs',
    suggestedAction: 'Sign again with the current time in milliseconds since 1970.',
    details: { serverTimeMs: now.getTime() },
  });
}

async function requireSigned({ deployment, isSignedBy }: ContestParts, commitment: Commitment, signature: Hex): Promise<Hex> {
  const hash = commitmentHash(domainOf(deployment), commitment);
  if (await isSignedBy({ wallet: commitment.wallet, hash, signature })) return hash;
  throw new OracleError('UNAUTHENTICATED', 'The signature is not that of this wallet for this commitment', {
    field: 'signature',
    suggestedAction: 'Sign the typed data of GET /api/svc/clawstake/status with the key of `wallet`, and send exactly the signed values.',
  });
}

function stale({ market }: Commitment): OracleError {
  return new OracleError('CONFLICT', `This wallet has a commitment for ${market} with the same or a later issuedAtMs`, {
    field: 'issuedAtMs',
    suggestedAction: 'To replace it, sign again with a later issuedAtMs.',
  });
}

import type { Address, Hex } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { SpentLimit } from '../../platform/limits/range-budget.ts';
import type { ContestDeps } from '../deps.ts';
import { type MarketDoc, parseRoundId, type RoundDoc } from '../rounds/round.ts';
import { buildCommitmentId, type Commitment } from './commitment.ts';
import { buildContestDomain, hashContestCommitment } from './typed-data.ts';

export const CLOCK_TOLERANCE_MS = 5 * 60_000;

export interface SignedCommitment extends Commitment {
  signature: Hex;
}

/**
 * Only a newer one replaces that of the same wallet and market, which prevents the replay of an old signature.
 * @param address of the client, as the rate limits key it
 */
export async function acceptCommitment(deps: ContestDeps, { signature, ...commitment }: SignedCommitment, address: string) {
  const { round, market } = await findMarket(deps, commitment.market);
  requireOpenRound(round, deps.now());
  requireRecentIssue(commitment.issuedAtMs, deps.now());
  const digest = await requireCommitmentSignature(deps, commitment, signature);
  await requireEntry(deps, round, { wallet: commitment.wallet, address });
  // Checked again: the call to a contract wallet takes time, and commitments become public at the opening.
  const committedAt = deps.now();
  requireOpenRound(round, committedAt);
  const ahead = await deps.time.proveUnreached(round.opensAt.getTime());
  if (ahead === null) throw commitmentsEndedError(round);
  const roundId = round._id;
  const put = await deps.commitments.upsert({ ...commitment, _id: buildCommitmentId(commitment), roundId, signature, committedAt }, ahead);
  if (put === 'stale') throw staleCommitmentError(commitment);
  return { round, market, committedAt, replaced: put === 'replaced', digest };
}

export async function findMarket({ rounds }: ContestDeps, id: string): Promise<{ round: RoundDoc; market: MarketDoc }> {
  const roundId = parseRoundId(id);
  const round = roundId === null ? null : await rounds.find(roundId);
  const market = round?.markets.find((one) => one.id === id);
  if (round && market) return { round, market };
  const suggestedAction = 'GET /api/svc/clawstake/markets lists all markets with their ids.';
  throw new OracleError('NOT_FOUND', 'There is no such market', { field: 'market', suggestedAction });
}

function requireOpenRound(round: RoundDoc, now: Date): void {
  if (now >= round.opensAt) throw commitmentsEndedError(round);
}

function commitmentsEndedError(round: RoundDoc): OracleError {
  const deadline = round.opensAt.toISOString();
  const suggestedAction = 'Commit to a market of the open round: GET /api/svc/clawstake/status names it.';
  const rejected = { field: 'market', suggestedAction, details: { round: round._id, deadline } };
  return new OracleError('CONFLICT', `Commitments for round ${round._id} ended at ${deadline}`, rejected);
}

function requireRecentIssue(issuedAtMs: number, now: Date): void {
  if (Math.abs(now.getTime() - issuedAtMs) <= CLOCK_TOLERANCE_MS) return;
  throw new OracleError('INPUT_INVALID', "issuedAtMs differs from the service's clock by more than 5 minutes", {
    field: 'issuedAtMs',
    suggestedAction: 'Sign again with the current time in milliseconds since 1970.',
    details: { serverTimeMs: now.getTime() },
  });
}

async function requireCommitmentSignature({ deployment, isSignedBy }: ContestDeps, commitment: Commitment, signature: Hex): Promise<Hex> {
  const hash = hashContestCommitment(buildContestDomain(deployment), commitment);
  if (await isSignedBy({ wallet: commitment.wallet, hash, signature })) return hash;
  throw new OracleError('UNAUTHENTICATED', 'The signature does not match this wallet and commitment', {
    field: 'signature',
    suggestedAction: 'Sign the typed data of GET /api/svc/clawstake/status with the key of `wallet` and send exactly the signed values.',
  });
}

/** A wallet enters a round once, with its first commitment, and goes on from any address. @throws OracleError RATE_LIMITED */
async function requireEntry(deps: ContestDeps, round: RoundDoc, { wallet, address }: { wallet: Address; address: string }): Promise<void> {
  const { entrants, commitments, isHolder, now } = deps;
  const entry = { round: round._id, wallet, address, at: now() };
  const spent = await entrants.enter(entry);
  if (spent === null || (await commitments.hasEntered(round, wallet))) return;
  const spentByHolders = (await isHolder(wallet)) ? await entrants.enterAsHolder(entry) : spent;
  if (spentByHolders !== null) throw roundFullError(round, spentByHolders, entry.at);
}

/** A place is free again in the next round, which is listed when this one opens. */
function roundFullError({ _id, opensAt }: RoundDoc, { scope, limit }: SpentLimit, now: Date): OracleError {
  const whose = scope === 'all' ? '' : scope === 'address' ? ' of one address' : ` of one ${scope}`;
  return new OracleError('RATE_LIMITED', `Round ${_id} has its ${limit} wallets${whose}`, {
    field: 'wallet',
    suggestedAction: `Commit with a wallet that has entered, or that holds the gate tokens of tier basic, for which places are reserved; or enter the next round from ${opensAt.toISOString()} on.`,
    retryAfterSeconds: Math.max(1, Math.ceil((opensAt.getTime() - now.getTime()) / 1_000)),
    details: { scope, limit, round: _id, opensAt: opensAt.toISOString() },
  });
}

function staleCommitmentError({ market }: Commitment): OracleError {
  const rejected = { field: 'issuedAtMs', suggestedAction: 'To replace it, sign again with a later issuedAtMs.' };
  return new OracleError('CONFLICT', `This wallet has a commitment for ${market} with the same or a later issuedAtMs`, rejected);
}

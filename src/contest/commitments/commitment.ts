import type { Address, Hex } from 'viem';
import type { CommitmentScore } from '../scoring/score.ts';

export interface Commitment {
  market: string;
  /** Checksummed. */
  wallet: Address;
  /** P(close above the strike) in basis points. */
  probabilityBps: number;
  /** Time of signing by the wallet's clock, in milliseconds since 1970; the newest of a wallet and market counts. */
  issuedAtMs: number;
}

/** A wallet's commitment to a market; `_id` is `<market>:<wallet in lower case>`. */
export interface CommitmentDoc extends Commitment {
  _id: string;
  roundId: string;
  /** EIP-712; public once the round has opened, for verifiers. */
  signature: Hex;
  committedAt: Date;
  score: CommitmentScore | null;
}

export function buildCommitmentId({ market, wallet }: Pick<Commitment, 'market' | 'wallet'>): string {
  return `${market}:${wallet.toLowerCase()}`;
}

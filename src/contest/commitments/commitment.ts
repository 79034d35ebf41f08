import type { Address, Hex } from 'viem';
import type { CommitmentScore } from '../scoring/score.ts';

/** What a wallet commits to, as it signs it. */
export interface Commitment {
  market: string;
  /** With its checksum. */
  wallet: Address;
  /** P(close above the strike) in basis points. */
  probabilityBps: number;
  /** When the wallet signed it, by its own clock, in milliseconds since 1970. The newest of a wallet and market counts. */
  issuedAtMs: number;
}

/** The standing commitment of a wallet for a market. `_id` is `<market>:<wallet in lower case>`. */
export interface CommitmentDoc extends Commitment {
  _id: string;
  roundId: string;
  /** EIP-712; public with the commitment once the round has opened, so that anybody can check it. */
  signature: Hex;
  committedAt: Date;
  /** Null until the market is decided. */
  score: CommitmentScore | null;
}

export function buildCommitmentId({ market, wallet }: Pick<Commitment, 'market' | 'wallet'>): string {
  return `${market}:${wallet.toLowerCase()}`;
}

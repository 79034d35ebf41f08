import canonicalize from 'canonicalize';
import { keccak256, toHex } from 'viem';
import type { WagerDoc } from './wager-book.ts';

export function buildEvidencePath(date: string): string {
  return `/api/svc/agent/feedback/${date}`;
}

/**
 * The off-chain feedback file (ERC-8004) of a settled wager as RFC 8785 JSON, with its keccak256. Wagers reported by earlier versions
 * have no header, so that their bytes still match the hash on chain.
 */
export function buildWagerEvidence(wager: WagerDoc) {
  const json = canonicalize(buildWagerFacts(wager)) as string;
  return { json, hash: keccak256(toHex(json)) };
}

export type WagerFacts = ReturnType<typeof buildWagerFacts>;

function buildWagerFacts(wager: WagerDoc) {
  const { _id: date, venue, asset, market, quote, pModel, qMarket, pBelieved, weight, side, contracts, costMicros } = wager;
  const { state: outcome, winner, payoutMicros, placedAt, settledAt } = wager;
  return {
    ...wager.feedbackHeader,
    date,
    venue,
    asset,
    market: market && { ...market, expiresAt: market.expiresAt.toISOString() },
    quote: quote && { ...quote, at: quote.at.toISOString() },
    pModel,
    qMarket,
    pBelieved,
    weight,
    side,
    contracts,
    costMicros,
    outcome,
    winner,
    payoutMicros,
    placedAt: placedAt?.toISOString() ?? null,
    settledAt: settledAt?.toISOString() ?? null,
  };
}

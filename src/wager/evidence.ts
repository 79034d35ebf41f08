import canonicalize from 'canonicalize';
import { type Hex, keccak256, toHex } from 'viem';
import type { WagerDoc } from './wager-book.ts';

/** What stands behind a reported outcome: the bytes that are served, and their hash as the registry has it. */
export interface WagerEvidence {
  /** RFC 8785 JSON of the settled wager. */
  json: string;
  /** keccak256 of these bytes, as ERC-8004 asks for. */
  hash: Hex;
}

/** Path under which the evidence on a day's wager is served. */
export function buildEvidencePath(date: string): string {
  return `/api/svc/agent/feedback/${date}`;
}

/**
 * The evidence on a settled wager, an off-chain feedback file of ERC-8004; the same for as long as the wager stands. Wagers that earlier
 * versions reported have no header, and keep the bytes that their hash on chain is of.
 */
export function buildWagerEvidence(wager: WagerDoc): WagerEvidence {
  const json = canonicalize(buildWagerFacts(wager)) as string;
  return { json, hash: keccak256(toHex(json)) };
}

/** What the evidence says. */
export type WagerFacts = ReturnType<typeof buildWagerFacts>;

function buildWagerFacts(wager: WagerDoc) {
  const { _id: date, venue, asset, market, quote, pModel, qMarket, pBelieved, weight, side, contracts, costMicros } = wager;
  const { state: outcome, winner, payoutMicros, placedAt, settledAt } = wager;
  const facts = { pModel, qMarket, pBelieved, weight, side, contracts, costMicros, outcome, winner, payoutMicros };
  return {
    ...wager.feedbackHeader,
    date,
    venue,
    asset,
    market: market && { ...market, expiresAt: market.expiresAt.toISOString() },
    quote: quote && { ...quote, at: quote.at.toISOString() },
    ...facts,
    placedAt: placedAt?.toISOString() ?? null,
    settledAt: settledAt?.toISOString() ?? null,
  };
}

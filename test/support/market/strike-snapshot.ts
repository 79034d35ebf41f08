import type { StrikeSnapshot } from '../../../src/market/feed.ts';

/** A strike of Polymarket's ladder of a Friday, seen two days before. */
export function strikeSnapshot(changes: Partial<StrikeSnapshot> = {}): StrikeSnapshot {
  return {
    venue: 'polymarket',
    marketId: '17',
    question: 'Bitcoin above 50,000 on March 13?',
    resolution: 'Resolves by the candle of the minute.',
    strikeUsd: 50_000,
    expiresAtMs: Date.parse('2026-03-13T16:00:00Z'),
    bid: 0.41,
    ask: 0.44,
    lastPrice: 0.4,
    bids: [],
    asks: [],
    tickSize: 0.01,
    minOrderSize: 5,
    negRisk: false,
    conditionId: `0x${'ab'.repeat(32)}`,
    yesTokenId: '111',
    noTokenId: '222',
    url: 'https://polymarket.com/event/bitcoin-above-on-march-13',
    providerAtMs: Date.parse('2026-03-11T09:59:58Z'),
    receivedAtMs: Date.parse('2026-03-11T10:00:00Z'),
    ...changes,
  };
}

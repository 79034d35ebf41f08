import { createHash } from 'node:crypto';
import { DAY_MS, formatDay, toDay, toInstantMs } from '../forecast/day.ts';
import { sigmoid } from '../forecast/fit/logistic.ts';
import { normalCdf } from '../forecast/math/normal.ts';
import { buildStrikesAround } from './strikes.ts';
import type { Quote, StrikeMarket } from './venue.ts';

const HALF_SPREAD = 0.01;
const FEE = 0.01;
/** Standard deviation of the crowd's error, in log odds. */
const CROWD_ERROR = 0.2;
const MIN_PRICE = 0.03;
const STRIKES_EACH_SIDE = 5;
/** Share of the price. */
const STRIKE_DISTANCE = 0.01;
const FRIDAY = 5;

export interface QuoteReference {
  spotUsd: number;
  dailyVolatility: number;
}

/** Strikes around the spot price, settled by the close of the next Friday that is more than one day away. */
export function buildPaperStrikes(spotUsd: number, at: Date): StrikeMarket[] {
  const expiry = findNextFriday(toDay(at.getTime()) + 2);
  return buildStrikesAround(spotUsd, STRIKE_DISTANCE, STRIKES_EACH_SIDE)
    .filter((strikeUsd) => strikeUsd > 0)
    .map((strikeUsd) => ({
      id: `paper:${formatDay(expiry)}:${strikeUsd}`,
      question: `Will BTC/USD close above ${strikeUsd.toLocaleString('en-US')} on ${formatDay(expiry)} (UTC)?`,
      strikeUsd,
      expiresAt: new Date(toInstantMs(expiry + 1)),
    }));
}

function findNextFriday(from: number): number {
  const weekday = new Date(from * DAY_MS).getUTCDay();
  return from + ((FRIDAY - weekday + 7) % 7);
}

/**
 * Quote of a simulated crowd: a driftless log-normal price with the recent volatility and an error that depends only on market and day.
 * It models no real market, so profits against it prove nothing.
 */
export function buildPaperQuote(market: StrikeMarket, reference: QuoteReference, at: Date): Quote {
  const days = (market.expiresAt.getTime() - at.getTime()) / DAY_MS;
  const z = Math.log(market.strikeUsd / reference.spotUsd) / (reference.dailyVolatility * Math.sqrt(days));
  const fair = 1 - normalCdf(z);
  const error = CROWD_ERROR * hashToStandardNormal(`${market.id}@${formatDay(toDay(at.getTime()))}`);
  const price = roundToCent(sigmoid(Math.log(fair / (1 - fair)) + error));
  const mid = Math.min(Math.max(price, MIN_PRICE), 1 - MIN_PRICE);
  return { bid: roundToCent(mid - HALF_SPREAD), ask: roundToCent(mid + HALF_SPREAD), fee: FEE, at };
}

function roundToCent(price: number): number {
  return Math.round(price * 100) / 100;
}

/** A deterministic standard normal number (Box-Muller over a hash of the text). */
function hashToStandardNormal(text: string): number {
  const bytes = createHash('sha256').update(text).digest();
  const u = (bytes.readUInt32BE(0) + 1) / 2 ** 32;
  const v = bytes.readUInt32BE(4) / 2 ** 32;
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}

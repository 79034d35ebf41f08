import { createHash } from 'node:crypto';
import { DAY_MS, formatDay, toDay, toInstantMs } from '../forecast/day.ts';
import { normalCdf } from '../forecast/math/normal.ts';
import type { Quote, StrikeMarket } from './venue.ts';

const HALF_SPREAD = 0.01;
const FEE = 0.01;
/** Standard deviation of the crowd's error, in log odds. */
const CROWD_ERROR = 0.2;
const MIN_PRICE = 0.03;
const STRIKES_EACH_SIDE = 5;
const FRIDAY = 5;

/** What a paper quote is made from. */
export interface QuoteReference {
  spotUsd: number;
  /** Standard deviation of the daily log return. */
  dailyVolatility: number;
}

/** Weekly strikes about one percent apart around the spot price, settled by the close of a Friday that is more than one day away. */
export function buildPaperStrikes(spotUsd: number, at: Date): StrikeMarket[] {
  const expiry = findNextFriday(toDay(at.getTime()) + 2);
  const step = chooseRoundStep(0.01 * spotUsd);
  const nearest = Math.round(spotUsd / step);
  return Array.from({ length: 2 * STRIKES_EACH_SIDE + 1 }, (_, index) => {
    const strikeUsd = Number(((nearest + index - STRIKES_EACH_SIDE) * step).toPrecision(6));
    return {
      id: `paper:${formatDay(expiry)}:${strikeUsd}`,
      question: `Will BTC/USD close above ${strikeUsd.toLocaleString('en-US')} on ${formatDay(expiry)} (UTC)?`,
      strikeUsd,
      expiresAt: new Date(toInstantMs(expiry + 1)),
    };
  }).filter(({ strikeUsd }) => strikeUsd > 0);
}

/** 1, 2 or 5 times a power of ten, near the wanted distance. */
export function chooseRoundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const digits = wanted / power;
  if (digits < 1.5) return power;
  return (digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10) * power;
}

function findNextFriday(from: number): number {
  const weekday = new Date(from * DAY_MS).getUTCDay();
  return from + ((FRIDAY - weekday + 7) % 7);
}

/**
 * The paper crowd: a driftless log-normal price with the recent volatility, off by an error that depends on the market and the day
 * only. It stands for no real market; what is won against it proves nothing.
 */
export function buildPaperQuote(market: StrikeMarket, reference: QuoteReference, at: Date): Quote {
  const days = (market.expiresAt.getTime() - at.getTime()) / DAY_MS;
  const z = Math.log(market.strikeUsd / reference.spotUsd) / (reference.dailyVolatility * Math.sqrt(days));
  const fair = 1 - normalCdf(z);
  const error = CROWD_ERROR * hashToStandardNormal(`${market.id}@${formatDay(toDay(at.getTime()))}`);
  const mid = clamp(roundToCent(logistic(Math.log(fair / (1 - fair)) + error)), MIN_PRICE, 1 - MIN_PRICE);
  return { bid: roundToCent(mid - HALF_SPREAD), ask: roundToCent(mid + HALF_SPREAD), fee: FEE, at };
}

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

function roundToCent(price: number): number {
  return Math.round(price * 100) / 100;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** A standard normal number that depends on the text only (Box-Muller over a hash). */
function hashToStandardNormal(text: string): number {
  const bytes = createHash('sha256').update(text).digest();
  const u = (bytes.readUInt32BE(0) + 1) / 2 ** 32;
  const v = bytes.readUInt32BE(4) / 2 ** 32;
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}

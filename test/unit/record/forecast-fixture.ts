import { parseDay } from '../../../src/forecast/day.ts';
import type { MoveSize } from '../../../src/forecast/move.ts';
import { type ForecastDoc, type ForecastState, formatForecastId, getOutcomeWindow } from '../../../src/record/forecast-doc.ts';

const HASH = `0x${'1'.repeat(64)}` as const;

const reference = (at: Date) => ({
  uid: HASH,
  txHash: HASH,
  blockNumber: 1,
  at,
  gasUsed: 1_000_000,
  effectiveGasPriceWei: '1000000000',
  attestationsInTransaction: 4,
});

export interface TestForecastOptions {
  date?: string;
  horizonDays?: number;
  state?: ForecastState;
  direction?: 'UP' | 'DOWN';
  actual?: 'UP' | 'DOWN';
  moveSize?: MoveSize;
}

/** A stored forecast in a state, with distinctive numbers so that a leak is easy to find. */
export function buildTestForecast({
  date = '2026-01-05',
  horizonDays = 7,
  state = 'PENDING',
  direction = 'UP',
  actual = 'UP',
  moveSize = 'USUAL',
}: TestForecastOptions = {}): ForecastDoc {
  const day = parseDay(date);
  const { opensAtMs, resolvesAtMs } = getOutcomeWindow(day, horizonDays);
  const resolved = state === 'WIN' || state === 'LOSS' || state === 'HOLD';
  return {
    _id: formatForecastId(day, horizonDays),
    day,
    horizonDays,
    sequence: day - parseDay('2026-01-01') + 1,
    state,
    replayed: false,
    late: false,
    missed: false,
    signalAt: new Date(`${date}T21:35:00Z`),
    windowOpensAt: new Date(opensAtMs),
    resolvesAt: new Date(resolvesAtMs),
    modelVersion: 'm0-d1.2025-08-19',
    regime: 'CHOP',
    values: {
      signal: state === 'HOLD' ? 'HOLD' : direction === 'UP' ? 'BUY' : 'SELL',
      direction,
      confidence: 0.58761234,
      confidenceBps: 5876,
      pUp: direction === 'UP' ? 0.58761234 : 0.41238766,
      pUpBps: direction === 'UP' ? 5876 : 4124,
      btcPriceCents: 9_000_000,
      climatology: 0.54,
      threshold: 0.06,
      priceQuantiles: { p10: 84_123.456, p50: 91_000, p90: 98_765.432 },
      distribution: { scale: 0.07, shift: 0.1 },
    },
    move: {
      modelVersion: 'm1.2025-08-19',
      moveSize,
      pBig: horizonDays === 1 ? 0.231234 : 0.471234,
      bigMove: horizonDays === 1 ? 0.03045921 : 0.05129329,
      width80: 0.15,
      width90: 0.21,
      calmUpTo: 0.12,
      wildFrom: 0.18,
    },
    commitment: HASH,
    inputsDigest: HASH,
    metadataDigest: HASH,
    cid: 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy',
    previousUid: null,
    attestation: state === 'DRAFT' ? null : reference(new Date(`${date}T21:38:00Z`)),
    btcAtSignalCents: 9_000_000,
    resolution: resolved
      ? {
          btcAtSignalCents: 9_000_000,
          btcAtResolutionCents: actual === 'UP' ? 9_100_000 : 8_900_000,
          returnBps: actual === 'UP' ? 111 : -111,
          actualDirection: actual,
          outcome: state as 'WIN' | 'LOSS' | 'HOLD',
          venues: ['a', 'b', 'c'],
          deviationBps: 3,
          decidedAt: new Date(resolvesAtMs),
          batch: 'resolve:x',
        }
      : null,
    reveal: resolved ? reference(new Date(resolvesAtMs)) : null,
  };
}

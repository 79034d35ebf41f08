import { type CallData, type FirstScreenData, PUBLIC_ACCESS, type RangeData, type RecordData } from '../../../src/page/first-screen.ts';

export const CALL: CallData = {
  signal: 'GATED',
  direction: null,
  confidence: null,
  predictionId: '2026-11-22:7d',
  status: 'PENDING',
  resolvesAt: '2026-11-30T00:00:00.000Z',
  attestationUid: '0x1',
};

/** Widths of a martingale around 80,000, with a volatility of 2 % a day. */
export const RANGE: RangeData = {
  date: '2026-11-22',
  btcPrice: 80_000,
  timestamp: '2026-11-22T21:35:00.000Z',
  horizons: [1, 2, 3, 7].map((days) => ({
    horizon: `${days}d`,
    ranges: [0.5, 0.8, 0.9].map((share, index) => {
      const half = [0.67, 1.28, 1.64][index]! * 0.02 * Math.sqrt(days);
      return { share, low: 80_000 * Math.exp(-half), high: 80_000 * Math.exp(half) };
    }),
    moveSize: days === 1 ? 'CALM' : 'USUAL',
    pBig: 0.05 * days + 0.1,
    resolvesAt: new Date(Date.parse('2026-11-23T00:00:00Z') + 86_400_000 * days).toISOString(),
    attestedAt: '2026-11-22T21:38:12.000Z',
  })),
};

export const RECORD: RecordData = {
  resolved: 90,
  holds: 20,
  wins: 48,
  accuracy: 48 / 90,
  accuracyInterval95: { low: 0.41, high: 0.65 },
  alwaysUpAccuracy: 47 / 90,
  dedupedTotal: 13,
  difference: { value: 1 / 90, low: -0.02, high: 0.04 },
  bySize: [
    { moveSize: 'CALM', n: 40, bigShare: 0.14 },
    { moveSize: 'USUAL', n: 19, bigShare: 0.26 },
    { moveSize: 'WILD', n: 0, bigShare: null },
  ],
};

export function screen(changes: Partial<FirstScreenData> = {}): FirstScreenData {
  const price = { price: 80_500, timestamp: '2026-11-23T10:00:00.000Z' };
  return {
    ...{ horizonDays: 7, call: CALL, waiting: 'loading', range: RANGE, price, missedDate: null, access: PUBLIC_ACCESS },
    records: { '1d': RECORD, '7d': RECORD },
    now: '2026-11-22T22:00:00.000Z',
    ...changes,
  };
}

import type { ForecastFacts } from '../../../src/page/forecast.ts';

const UID = `0x${'1'.repeat(64)}`;
const attestation = (at: string) => ({ uid: UID, txHash: UID, block: 1, at, explorerUrl: null });

/** A revealed forecast that was right. */
export function buildForecastFacts(changes: Partial<ForecastFacts> = {}): ForecastFacts {
  return {
    date: '2026-01-05',
    horizonDays: 2,
    sequence: 5,
    state: 'right',
    madeAt: '2026-01-05T21:35:00.000Z',
    windowOpensAt: '2026-01-06T00:00:00.000Z',
    endsAt: '2026-01-08T00:00:00.000Z',
    now: '2026-01-20T00:00:00.000Z',
    committed: attestation('2026-01-05T21:38:00.000Z'),
    revealed: attestation('2026-01-08T00:15:00.000Z'),
    values: { signal: 'BUY', direction: 'UP', pUp: 0.5876 },
    price: { atSignal: 90_000, atOpening: 90_100, atEnd: 91_000, returnBps: 100 },
    band: { low: 84_000, high: 98_000, isCommitted: true },
    move: {
      ...{ modelVersion: 'm1-2026-01-01', moveSize: 'USUAL', pBig: 0.4412, bigMove: 0.05129329 },
      ...{ width80: 0.0912, width90: 0.1207, calmUpTo: 0.08, wildFrom: 0.12 },
    },
    quantiles: [{ percent: 50, price: 91_000 }],
    brier: { own: 0.17, baseRate: 0.212 },
    regime: 'CHOP',
    modelVersion: 'm1',
    closes: [
      { at: '2026-01-06T00:00:00.000Z', price: 90_100 },
      { at: '2026-01-07T00:00:00.000Z', price: 90_500 },
    ],
    previousDate: '2026-01-04',
    nextDate: null,
    horizons: [1, 2],
    isLocalChain: true,
    isSimulated: false,
    isReplayed: false,
    ...changes,
  };
}

/** The same before its outcome. */
export function buildHiddenFacts(changes: Partial<ForecastFacts> = {}): ForecastFacts {
  return buildForecastFacts({
    state: 'committed',
    now: '2026-01-06T12:00:00.000Z',
    revealed: null,
    values: null,
    price: { atSignal: 90_000, atOpening: 90_100, atEnd: null, returnBps: null },
    band: { low: 85_000, high: 95_000, isCommitted: false },
    quantiles: [],
    brier: null,
    closes: [{ at: '2026-01-06T00:00:00.000Z', price: 90_100 }],
    ...changes,
  });
}

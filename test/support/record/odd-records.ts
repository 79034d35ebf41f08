import { DAY_MS } from '../../../src/forecast/day.ts';
import type { ScorecardPageReply } from '../../../src/record/schemas/track-record.ts';

type Row = ScorecardPageReply['predictions'][number];

/** `YYYY-MM-DD` of so many days after an ISO 8601 time. */
export function dateOf(time: string, days = 0): string {
  return new Date(Date.parse(time) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Records that have little or nothing to show, and what is said then. */
export function oddRecords(): [string, (real: ScorecardPageReply) => ScorecardPageReply, Readonly<Record<string, RegExp>>][] {
  const nothingScored = { calibration: /No outcome is known yet/, price: /No forecast with a band was resolved/ };
  return [
    [
      'no forecast',
      (real) => withRows(real, [], 'nothing resolved yet: no claim can be made'),
      { accuracy: /No forecast has been made yet/, calibration: /No outcome is known yet/, price: /No close is known yet/ },
    ],
    [
      'one forecast that is open',
      (real) => withRows(real, real.predictions.slice(0, 1), 'nothing resolved yet: no claim can be made'),
      { accuracy: /Nothing resolved yet\.\s*No claim can be made\./, ...nothingScored },
    ],
    [
      'all HOLD',
      (real) => withRows(real, real.predictions.map(held), 'no calls: all 12 resolved forecasts were HOLD'),
      { accuracy: /No calls\.\s*All 12 resolved forecasts/, ...nothingScored, price: /inside the 80 % band on \d+ of \d+ days/ },
    ],
    [
      'all VOID and missed',
      (real) => withRows(real, real.predictions.map(missed), 'nothing resolved yet: no claim can be made'),
      { record: /12 void, 12 of them missed days/, ...nothingScored },
    ],
  ];
}

/** A record of such rows without a scored one: everything that rests on outcomes is null. */
function withRows(real: ScorecardPageReply, predictions: Row[], verdict: string): ScorecardPageReply {
  const none = { resolved: 0, wins: 0, accuracy: null, dedupedTotal: 0, accuracyInterval95: null, brier: null, effectiveN: 0 };
  const countOf = (status: Row['status']) => predictions.filter((row) => row.status === status).length;
  const voids = countOf('VOID');
  return {
    ...real,
    predictions,
    summary: {
      ...{
        ...real.summary,
        ...none,
        scored: 0,
        accuracy: 0,
        losses: 0,
        dedupedWins: 0,
        dedupedAccuracy: 0,
        dedupedInterval95: null,
        alwaysUpAccuracy: null,
      },
      ...{ totalPredictions: predictions.length, holds: countOf('HOLD'), voids, missed: voids, pending: countOf('PENDING') },
      ...{ streak: { count: 0, type: 'WIN' as const }, verdict },
    },
    stats: { total: predictions.length, scored: 0, wins: 0, losses: 0, accuracy: 0, currentStreak: 0, longestStreak: 0 },
    statistics: {
      calls: {
        n: 0,
        hits: 0,
        accuracy: null,
        effectiveN: 0,
        wilson95: null,
        bootstrap95: null,
        offsets: [],
        selection: null,
        alwaysUp: null,
      },
      probabilities: null,
      distribution: null,
    },
    byHorizon: real.byHorizon.map((row) => ({ ...row, ...none })),
    byRegime: real.byRegime.map((row) => ({ ...row, ...none })),
    marketSkill: { ...real.marketSkill, skill: null },
  };
}

function held(row: Row): Row {
  return { ...row, status: 'HOLD', signal: 'HOLD', outcome: null };
}

function missed(row: Row): Row {
  const nothing = {
    signal: null,
    direction: null,
    confidence: null,
    pUp: null,
    btcPrice: null,
    band80: null,
    regime: null,
    riskLevel: null,
  };
  const noPrices = { btcAtResolution: null, returnBps: null, resolvedAt: null, outcome: null, modelVersion: null };
  return { ...row, ...nothing, ...noPrices, status: 'VOID', missed: true };
}

/** A year of forecasts: prices in waves, some outcomes outside their bands, all regimes; probabilities in many bins. */
export function yearOf(real: ScorecardPageReply): ScorecardPageReply {
  const template = real.predictions.find(({ band80 }) => band80 !== null)!;
  const newest = real.predictions[0].windowOpensAt;
  const priceOn = (day: number) => 60_000 + 25_000 * Math.sin(day / 40) + 3_000 * Math.sin(day * 1.7);
  const risks = {
    CRISIS: 'Extreme',
    BEAR_TREND: 'High',
    EUPHORIA: 'Elevated',
    BEAR_RECOVERY: 'Elevated',
    CHOP: 'Moderate',
    DEFAULT: 'Moderate',
    BULL_TREND: 'Low',
  } as const;
  const regimes = Object.keys(risks) as (keyof typeof risks)[];
  const predictions = Array.from({ length: 380 }, (_, age): Row => {
    const at = (days: number) => new Date(Date.parse(newest) + (days - age) * DAY_MS).toISOString();
    const [opens, ends] = [priceOn(-age), priceOn(2 - age)];
    const regime = regimes[Math.floor(age / 13) % regimes.length];
    const row = {
      ...template,
      date: dateOf(at(-1)),
      sequence: 380 - age,
      windowOpensAt: at(0),
      resolvesAt: at(2),
      regime,
      riskLevel: risks[regime],
      btcAtSignal: opens,
    };
    if (age < 2) return { ...row, btcAtResolution: null, band80: null, outcome: null, status: 'PENDING', resolved: false };
    return { ...row, btcAtResolution: ends, band80: { low: opens * 0.95, median: opens, high: opens * 1.05 } };
  });
  const share = (n: number, accuracy: number, half: number) => ({
    ...{ resolved: n, wins: Math.round(n * accuracy), accuracy, effectiveN: n / 2 },
    ...{ dedupedTotal: Math.round(n / 2), accuracyInterval95: { low: accuracy - half, high: accuracy + half } },
  });
  const skill = { brier: 0.25, value: 0.011, low: -0.021, high: 0.043 };
  return {
    ...real,
    predictions,
    byHorizon: real.byHorizon.map((row, index) => ({ ...row, ...share(300, 0.45 + index / 20, 0.06) })),
    byRegime: regimes.map((regime, index) => ({ regime, total: 60, brier: null, ...share(20 + index * 9, 0.3 + index / 15, 0.2) })),
    marketSkill: {
      ...real.marketSkill,
      skill: { weeks: 52, oracleBrier: 0.24, marketBrier: 0.25, value: 0.044, low: -0.067, high: 0.155 },
    },
    statistics: {
      ...real.statistics,
      probabilities: {
        ...real.statistics.probabilities!,
        climatologySkill: skill,
        alwaysUpSkill: { ...skill, value: 0.42, low: 0.23, high: 0.53 },
        reliability: Array.from({ length: 8 }, (_, index) => {
          const said = 0.325 + index / 20;
          return {
            from: said - 0.025,
            to: said + 0.025,
            n: 47,
            effectiveN: 20,
            meanProbability: said,
            observedShare: said - 0.03,
            interval95: { low: said - 0.2, high: said + 0.2 },
          };
        }),
      },
    },
  };
}

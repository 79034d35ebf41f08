import { describe, expect, it } from 'vitest';
import type { RoundDoc } from '../../../src/contest/rounds/round.ts';
import { toRoundView, toStandingView } from '../../../src/contest/views.ts';
import { listedRound } from '../../support/contest/contest-round.ts';

const round = listedRound('2026-07-29T10:00:00Z', 61_234);
const pinned = { day: 20_000, forecastAt: new Date(), modelVersion: 'm0-d1.test', pinnedAt: new Date() };
const withOracle = round.markets.map((market, index) => ({ ...market, oracleBps: 3_141 + index }));
const outcome = { closeCents: 6_300_000, venues: ['a'], deviationBps: 0, decidedAt: round.resolvesAt };
const decided = withOracle.map((market) => ({ ...market, above: 63_000 > market.strikeUsd, commitments: 2, meanBps: 2_718 }));
const crowd = new Map(round.markets.map(({ id }) => [id, { commitments: 3, meanBps: 2_718 }]));

const before = new Date(round.opensAt.getTime() - 1);
const after = round.opensAt;

const STATES: [string, RoundDoc, Date][] = [
  ['open', round, before],
  ['past its deadline, and the job has not seen it', round, after],
  ['running', { ...round, state: 'RUNNING', markets: withOracle, pinned }, after],
  ['void after it was pinned', { ...round, state: 'VOID', markets: decided, pinned, voidBecause: 'no close was agreed on' }, after],
];

describe('public view of a round', () => {
  it.each(STATES)("hides the oracle's probabilities while it is %s", (_, doc, now) => {
    const view = toRoundView(doc, crowd, now);
    const text = JSON.stringify(view);
    for (const secret of ['0.314', '3141', '3142', 'm0-d1', '"oracleForecastDate":"']) expect(text).not.toContain(secret);
    for (const market of view.markets) expect(market).toMatchObject({ oracleProbability: null, oracleBrier: null });
  });

  it('shows the count of commitments, and their mean from the deadline on', () => {
    const hidden = toRoundView(round, crowd, before);
    expect(hidden.state).toBe('OPEN');
    expect(JSON.stringify(hidden)).not.toContain('2718');
    expect(hidden.markets[0]).toMatchObject({ commitments: 3, crowdProbability: null });
    const shown = toRoundView(round, crowd, after);
    expect(shown.state).toBe('RUNNING');
    expect(shown.markets[0]).toMatchObject({ commitments: 3, crowdProbability: 0.2718 });
  });

  it('shows everything once it is resolved', () => {
    const view = toRoundView({ ...round, state: 'RESOLVED', markets: decided, pinned, outcome }, new Map(), after);
    expect(view).toMatchObject({ state: 'RESOLVED', close: 63_000, oracleModelVersion: 'm0-d1.test' });
    expect(view.markets.map((market) => market.outcome)).toEqual(['YES', 'YES', 'YES', 'NO', 'NO']);
    expect(view.markets[0]).toMatchObject({
      oracleProbability: 0.3141,
      oracleBrier: 0.470459,
      crowdProbability: 0.2718,
      crowdBrier: 0.530275,
    });
    const mean = view.markets.reduce((sum, { oracleBrier }) => sum + oracleBrier!, 0) / view.markets.length;
    expect(view.oracleMeanBrier).toBeCloseTo(mean, 5);
  });
});

describe('leaderboard view', () => {
  const row = {
    _id: '0x0000000000000000000000000000000000000001',
    ...{ commitments: 20, rounds: 5, points: 900, brierWallet: 0.2, brierOracle: 0.245, meanDifference: 0.045, standardDeviation: 0.01 },
    ranked: true,
  } as const;

  it('reports whether the oracle is beaten significantly', () => {
    expect(toStandingView(row, 3)).toMatchObject({ rank: 3, beatsOracle: true });
    expect(toStandingView({ ...row, standardDeviation: 0.1 }, 3)).toMatchObject({ rank: 3, beatsOracle: false });
  });

  it('has no rank for a wallet with too few rounds', () => {
    const view = toStandingView({ ...row, rounds: 1, standardDeviation: null, ranked: false }, 9);
    expect(view).toMatchObject({ rank: null, interval: null, beatsOracle: null, points: 900 });
  });
});

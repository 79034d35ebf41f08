import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/forecast/bootstrap.ts';
import {
  addDifference,
  BETS,
  computeEValue,
  computeLossDifference,
  computeMaxDifference,
  type DayDifference,
  judgeChallenge,
  PROOF_THRESHOLD,
  runEProcess,
  startEProcess,
} from '../../../src/forecast/challenge.ts';
import { computeGridCrps, QUANTILE_COUNT, QUANTILE_LEVELS } from '../../../src/forecast/distribution.ts';
import { mean, normalQuantile } from '../../../src/forecast/math.ts';

const toDays = (differences: readonly number[], first = 0): DayDifference[] =>
  differences.map((difference, index) => ({ day: first + index, difference }));

describe('the e-process', () => {
  it('has the values of its products', () => {
    const process = runEProcess(toDays([0.5, -0.25]), 1);
    expect(computeEValue(startEProcess(1).better)).toBe(1);
    expect(computeEValue(process.better)).toBeCloseTo(mean(BETS.map((bet) => (1 + 0.5 * bet) * (1 - 0.25 * bet))), 14);
    expect(computeEValue(process.worse)).toBeCloseTo(mean(BETS.map((bet) => (1 - 0.5 * bet) * (1 + 0.25 * bet))), 14);
    // Mean bet 1.87 / 7: one day with the largest difference gives 1.267.
    expect(computeEValue(runEProcess(toDays([1]), 1).better)).toBeCloseTo(1 + 1.87 / 7, 14);
    expect(computeEValue(runEProcess(toDays([1]), 1).worse)).toBeCloseTo(1 - 1.87 / 7, 14);
  });

  it('of several days averages the processes of its offsets', () => {
    const differences = [0.5, 0.1, -0.25, 0.3, 0.2];
    const process = runEProcess(toDays(differences, 7), 3);
    const expected = [0, 1, 2].map((offset) => {
      const own = differences.filter((_, index) => (7 + index) % 3 === offset);
      return computeEValue(runEProcess(toDays(own), 1).better);
    });
    expect(computeEValue(process.better)).toBeCloseTo(mean(expected), 14);
    // An offset without a day counts as 1.
    expect(computeEValue(runEProcess(toDays([1], 4), 7).better)).toBeCloseTo((6 + 1 + 1.87 / 7) / 7, 14);
  });

  it('does not depend on the order of its days but in its maximum', () => {
    const ups = runEProcess(toDays([0.9, 0.9, -0.9]), 1);
    const downs = runEProcess(toDays([-0.9, 0.9, 0.9]), 1);
    expect(computeEValue(ups.better)).toBeCloseTo(computeEValue(downs.better), 14);
    expect(ups.better.maxDay).toBe(1);
    expect(downs.better.max).toBeLessThan(ups.better.max);
  });

  it('is the same one day at a time, through JSON', () => {
    const differences = Array.from({ length: 50 }, (_, index) => Math.sin(index));
    let process = startEProcess(2);
    for (const day of toDays(differences)) process = addDifference(JSON.parse(JSON.stringify(process)), day);
    expect(process).toEqual(runEProcess(toDays(differences), 2));
  });

  it('rejects a day that does not follow, and a difference beyond 1', () => {
    const process = runEProcess(toDays([0.1], 10), 1);
    expect(() => addDifference(process, { day: 10, difference: 0.1 })).toThrow(/does not follow/);
    for (const difference of [1.01, -2, Number.NaN]) expect(() => addDifference(process, { day: 11, difference })).toThrow(/not within/);
  });

  it('stays at 1 between equal distributions', () => {
    const process = runEProcess(toDays(new Array(400).fill(0)), 7);
    expect([computeEValue(process.better), computeEValue(process.worse)]).toEqual([1, 1]);
    expect(judgeChallenge(process)).toEqual({ verdict: 'not proven', since: null });
  });
});

describe('the verdict', () => {
  it('comes from the maximum, with the day that proved it', () => {
    const wins = toDays(new Array(9).fill(1));
    const losses = toDays(new Array(60).fill(-1), 9);
    const process = runEProcess([...wins, ...losses], 1);
    const first = wins.findIndex((_, index) => computeEValue(runEProcess(wins.slice(0, index + 1), 1).better) >= PROOF_THRESHOLD);
    expect(first).toBeGreaterThan(0);
    expect(computeEValue(process.better)).toBeLessThan(1);
    expect(judgeChallenge(process)).toEqual({ verdict: 'proven better at 5 %', since: first });
    expect(judgeChallenge(runEProcess(wins.slice(0, first), 1))).toEqual({ verdict: 'not proven', since: null });
    expect(judgeChallenge(runEProcess(losses, 1)).verdict).toBe('proven worse');
  });
});

describe('without a difference between the versions', () => {
  const PATHS = 2_000;
  const DAYS = 500;
  const random = createRandom(20_261_123);
  const shareProven = (horizonDays: number, drawPath: () => number[], paths = PATHS) => {
    let proven = 0;
    for (let path = 0; path < paths; path++) proven += isProven(drawPath(), horizonDays) ? 1 : 0;
    return proven / paths;
  };

  it.each([1, 3])('at %d days at most 5 % of the paths ever reach the threshold', (horizonDays) => {
    const draws = [() => Math.sign(random() - 0.5), () => 2 * random() - 1, () => 0.2 * (random() - random())];
    for (const draw of draws) expect(shareProven(horizonDays, () => Array.from({ length: DAYS }, draw))).toBeLessThanOrEqual(0.05);
  });

  it('nor with windows that overlap', () => {
    const grids = [-0.5, 0.5].map((shift) => QUANTILE_LEVELS.map((level) => normalQuantile(level) + shift));
    const drawPath = () => {
      const steps = Array.from({ length: DAYS + 2 }, () => normalQuantile(random() || 0.5) / Math.sqrt(3));
      return steps.slice(2).map((_, day) => computeLossDifference(grids[0]!, grids[1]!, steps[day]! + steps[day + 1]! + steps[day + 2]!));
    };
    // Each day scores two whole distributions.
    expect(shareProven(3, drawPath, PATHS / 4)).toBeLessThanOrEqual(0.05);
  });
});

/** As `runEProcess`, of the one direction and without the states between. */
function isProven(differences: readonly number[], horizonDays: number): boolean {
  const wealth = Array.from({ length: horizonDays }, () => BETS.map(() => 1));
  return differences.some((difference, day) => {
    const own = wealth[day % horizonDays]!;
    for (const [index, bet] of BETS.entries()) own[index]! *= 1 + bet * difference;
    return mean(wealth.map(mean)) >= PROOF_THRESHOLD;
  });
}
describe('loss difference', () => {
  /** Ascending whole numbers of 1e-6, as they are committed. */
  const grids = fc
    .array(fc.integer({ min: -500_000, max: 500_000 }), { minLength: QUANTILE_COUNT, maxLength: QUANTILE_COUNT })
    .map((units) =>
      Float64Array.from(
        units.sort((a, b) => a - b),
        (unit) => unit / 1e6,
      ),
    );
  const returns = fc.double({ min: -2, max: 2, noNaN: true });

  it('two scores differ by at most c, whatever the outcome', () => {
    fc.assert(
      fc.property(grids, grids, returns, (champion, challenger, realised) => {
        const difference = computeGridCrps(champion, realised) - computeGridCrps(challenger, realised);
        expect(Math.abs(difference)).toBeLessThanOrEqual(computeMaxDifference(champion, challenger) * (1 + 1e-12) + 1e-15);
        expect(Math.abs(computeLossDifference(champion, challenger, realised))).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('an outcome beyond both of two shifted grids makes the difference almost as large as c', () => {
    const low = Float64Array.from({ length: QUANTILE_COUNT }, (_, index) => index / 1e4);
    const high = low.map((value) => value + 0.01);
    // Levels average one half.
    expect(computeLossDifference(low, high, 1)).toBeCloseTo(0.5, 12);
    expect(computeLossDifference(low, high, -1)).toBeCloseTo(-0.5, 12);
  });

  it('changes its sign with the roles, and is 0 for equal grids', () => {
    fc.assert(
      fc.property(grids, grids, returns, (champion, challenger, realised) => {
        expect(computeLossDifference(champion, challenger, realised) + computeLossDifference(challenger, champion, realised)).toBe(0);
        expect(computeLossDifference(champion, champion, realised)).toBe(0);
      }),
    );
  });
});

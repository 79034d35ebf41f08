import { computeEValue, type EProcess, PROOF_THRESHOLD, runEProcess } from '../../forecast/challenge/e-process.ts';
import { listComparisons } from '../../forecast/challenge/score-distributions.ts';
import { judgeChallenge } from '../../forecast/challenge/verdict.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import { formatHorizonName, type HorizonDays } from '../../forecast/model.ts';
import type { DistributionScoresDoc } from '../distributions/distribution-scores.ts';
import { buildDistributionTable } from './distribution-table.ts';

export type ChallengeFigures = ReturnType<typeof computeChallengeFigures>;
export type ChallengeResult = ChallengeFigures['comparisons'][number];

/** The test of each version against the one before it, and the scores of all distributions. @param docs revealed, of one horizon by day */
export function computeChallengeFigures(docs: readonly DistributionScoresDoc[], horizonDays: number) {
  return {
    horizon: formatHorizonName(horizonDays),
    horizonDays: horizonDays as HorizonDays,
    comparisons: listComparisons().map(({ challenger, against }) => {
      const differences = docs.flatMap(({ day, comparisons }) => {
        const own = comparisons.find((one) => one.challenger === challenger && one.against === against);
        return own === undefined ? [] : [{ day, difference: own.difference }];
      });
      return { challenger, against, ...describeProcess(runEProcess(differences, horizonDays)) };
    }),
    distributions: buildDistributionTable(docs),
  };
}

function describeProcess(process: EProcess) {
  const { verdict, since } = judgeChallenge(process);
  const { better, worse, days, lastDay } = process;
  return {
    days,
    throughDate: formatOrNull(lastDay),
    threshold: PROOF_THRESHOLD,
    eBetter: computeEValue(better),
    eWorse: computeEValue(worse),
    maxBetter: better.max,
    maxWorse: worse.max,
    verdict,
    since: formatOrNull(since),
  };
}

function formatOrNull(day: Day | null): string | null {
  return day === null ? null : formatDay(day);
}

import { computeEValue, type EProcess, runEProcess } from '../../forecast/challenge/e-process.ts';
import { judgeChallenge } from '../../forecast/challenge/verdict.ts';
import { formatDay } from '../../forecast/day.ts';
import type { ClaimedChallenge } from '../evidence.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';
import { compareAsOne, formatPair, type OpenedForecast } from './distributions.ts';

/** The evidence for or against a challenger over one horizon. */
export type ProvenChallenge = ReturnType<typeof buildChallenge>;

type Pair = Pick<ClaimedChallenge, 'challenger' | 'against' | 'horizonDays'>;

/** Recomputes the e-process of every comparison from all opened days. @param claims null: nothing is compared */
export function checkChallenges(
  opened: readonly OpenedForecast[],
  claims: readonly ClaimedChallenge[] | null,
  findings: Findings,
): ProvenChallenge[] {
  const pairs = new Map<string, Pair>();
  for (const { horizonDays, comparisons } of opened) {
    for (const { challenger, against } of comparisons) {
      const pair = { challenger, against, horizonDays };
      pairs.set(toKey(pair), pair);
    }
  }
  const proven = new Map([...pairs].map(([key, pair]) => [key, buildChallenge(pair, opened)]));
  if (claims !== null) {
    const claimed = Map.groupBy(claims, toKey);
    const expected = [...claimed].map(([key, [one]]) => [key, proven.get(key) ?? buildChallenge(one, opened)] as const);
    for (const [key, figures] of new Map([...proven, ...expected])) compareChallenge(figures, claimed.get(key), findings);
  }
  return [...proven.values()].sort((a, b) => a.horizonDays - b.horizonDays);
}

function compareChallenge(expected: ProvenChallenge, claimed: readonly ClaimedChallenge[] = [], findings: Findings): void {
  const subject = { ...NO_SUBJECT, horizonDays: expected.horizonDays };
  const tree = { path: formatPair(expected), expected: { ...expected, entries: 1 }, found: { ...claimed[0], entries: claimed.length } };
  compareAsOne(tree, 'evidence', { subject, findings });
}

function buildChallenge({ challenger, against, horizonDays }: Pair, opened: readonly OpenedForecast[]) {
  const days = opened
    .filter((one) => one.horizonDays === horizonDays)
    .flatMap(({ day, comparisons }) =>
      comparisons.filter((one) => one.challenger === challenger && one.against === against).map(({ difference }) => ({ day, difference })),
    )
    .sort((a, b) => a.day - b.day);
  return { challenger, against, horizonDays, ...describeEvidence(runEProcess(days, horizonDays)) };
}

function describeEvidence(one: EProcess) {
  const { verdict, since } = judgeChallenge(one);
  return {
    days: one.days,
    ...{ eBetter: computeEValue(one.better), eWorse: computeEValue(one.worse) },
    ...{ maxBetter: one.better.max, maxWorse: one.worse.max },
    ...{ verdict, since: since === null ? null : formatDay(since) },
  };
}

const toKey = ({ challenger, against, horizonDays }: Pair) => `${horizonDays}d ${formatPair({ challenger, against })}`;

import { getErrorMessage, isOracleError } from '../platform/errors.ts';
import type { ContestDeps } from './deps.ts';
import { listRound } from './rounds/list-round.ts';
import { pinOracle } from './rounds/pin-oracle.ts';
import { resolveRound } from './rounds/resolve-round.ts';
import type { RoundDoc } from './rounds/round.ts';
import { scoreRound } from './rounds/score-round.ts';

/** What became of one step of one round. */
export type ContestReport = { step: string; round: string | null } & ({ done: string } | { waiting: string } | { failed: string });

type RoundStep = (deps: ContestDeps, round: RoundDoc) => Promise<string | null>;

/**
 * Does everything that is due: lists the next round, pins the oracle's probabilities of what has opened, decides and scores what is
 * over. Each step may run twice, in parallel, or be killed in the middle; one that waits or fails holds up no other. Nothing to do
 * costs a few reads.
 */
export async function runContest(deps: ContestDeps): Promise<ContestReport[]> {
  const { rounds, now } = deps;
  return [
    ...(await attemptStep(deps, { step: 'list', round: null }, async () => describeListedRound(await listRound(deps)))),
    ...(await runStepForRounds(deps, 'pin', await rounds.listOpened('OPEN', now()), pinOracle)),
    ...(await runStepForRounds(deps, 'resolve', await rounds.listOpened('RUNNING', now()), resolveRound)),
    ...(await runStepForRounds(deps, 'score', await rounds.listUnscored(), scoreRound)),
  ];
}

function describeListedRound(round: string | null): string | null {
  return round === null ? null : `listed ${round}`;
}

async function runStepForRounds(deps: ContestDeps, step: string, rounds: readonly RoundDoc[], run: RoundStep): Promise<ContestReport[]> {
  const reports: ContestReport[] = [];
  for (const round of rounds) reports.push(...(await attemptStep(deps, { step, round: round._id }, () => run(deps, round))));
  return reports;
}

async function attemptStep(
  { log }: ContestDeps,
  of: Pick<ContestReport, 'step' | 'round'>,
  run: () => Promise<string | null>,
): Promise<ContestReport[]> {
  try {
    const done = await run();
    if (done === null) return [];
    log.debug({ ...of, done }, 'contest');
    return [{ ...of, done }];
  } catch (error) {
    if (isOracleError(error) && error.retryable) {
      log.debug({ ...of, waiting: error.message }, 'contest step waits');
      return [{ ...of, waiting: error.message }];
    }
    log.error({ err: error, ...of }, 'contest step failed');
    return [{ ...of, failed: getErrorMessage(error) }];
  }
}

import { getErrorMessage, isOracleError } from '../platform/errors.ts';
import type { ContestDeps } from './deps.ts';
import { listRound } from './rounds/list-round.ts';
import { pinOracle } from './rounds/pin-oracle.ts';
import { resolveRound } from './rounds/resolve-round.ts';
import type { RoundDoc } from './rounds/round.ts';
import { scoreCommitment } from './scoring/score.ts';

export type ContestReport = { step: string; round: string | null } & ({ done: string } | { waiting: string } | { failed: string });

type RoundStep = (deps: ContestDeps, round: RoundDoc) => Promise<string | null>;

/** Steps are idempotent and safe in parallel; one that waits or fails does not block the others. */
export async function runContest(deps: ContestDeps): Promise<ContestReport[]> {
  const { rounds, now } = deps;
  return [
    ...(await attemptStep(deps, { step: 'list', round: null }, async () => {
      const id = await listRound(deps);
      return id === null ? null : `listed ${id}`;
    })),
    ...(await runStepForRounds(deps, 'pin', await rounds.listOpened('OPEN', now()), pinOracle)),
    ...(await runStepForRounds(deps, 'resolve', await rounds.listOpened('RUNNING', now()), resolveRound)),
    ...(await runStepForRounds(deps, 'score', await rounds.listUnscored(), scoreRound)),
    ...(await attemptStep(deps, { step: 'figures', round: null }, async () => {
      // So that no request has to compute them.
      await deps.figures.getSummary();
      return null;
    })),
    ...(await attemptStep(deps, { step: 'purge', round: null }, async () => {
      await deps.entrants.purge(now());
      return null;
    })),
  ];
}

/** Scores all commitments of a resolved round; after a crash, those without a score. */
export async function scoreRound({ commitments, rounds, now }: ContestDeps, round: RoundDoc): Promise<string> {
  for (const { id, oracleBps, above } of round.markets) {
    await commitments.scoreMarket(id, (walletBps) => scoreCommitment({ walletBps, oracleBps: oracleBps!, above: above! }));
  }
  await rounds.markScored(round._id, now());
  return 'scored';
}

async function runStepForRounds(deps: ContestDeps, step: string, rounds: readonly RoundDoc[], run: RoundStep): Promise<ContestReport[]> {
  const reports: ContestReport[] = [];
  for (const round of rounds) reports.push(...(await attemptStep(deps, { step, round: round._id }, () => run(deps, round))));
  return reports;
}

async function attemptStep({ log }: ContestDeps, of: Pick<ContestReport, 'step' | 'round'>, run: () => Promise<string | null>) {
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

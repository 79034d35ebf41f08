import { isOracleError, messageOf } from '../errors.ts';
import { listRound } from './list-round.ts';
import type { ContestParts } from './parts.ts';
import { pinOracle } from './pin-oracle.ts';
import { resolveRound } from './resolve-round.ts';
import type { RoundDoc } from './round.ts';
import { scoreRound } from './score-round.ts';

/** What became of one step of one round. */
export type ContestReport = { step: string; round: string | null } & ({ done: string } | { waiting: string } | { failed: string });

type RoundStep = (parts: ContestParts, round: RoundDoc) => Promise<string | null>;

/**
 * Does everything that is due: lists the next round, pins the oracle's probabilities of what has opened, decides and scores what is
 * over. Each step may run twice, in parallel, or be killed in the middle; one that waits or fails holds up no other. Nothing to do
 * costs a few reads.
 */
export async function runContest(parts: ContestParts): Promise<ContestReport[]> {
  const { rounds, now } = parts;
  return [
    ...(await attempt(parts, { step: 'list', round: null }, async () => listed(await listRound(parts)))),
    ...(await forEach(parts, 'pin', await rounds.opened('OPEN', now()), pinOracle)),
    ...(await forEach(parts, 'resolve', await rounds.opened('RUNNING', now()), resolveRound)),
    ...(await forEach(parts, 'score', await rounds.unscored(), scoreRound)),
  ];
}

function listed(round: string | null): string | null {
  return round === null ? null : `listed ${round}`;
}

async function forEach(parts: ContestParts, step: string, rounds: readonly RoundDoc[], run: RoundStep): Promise<ContestReport[]> {
  const reports: ContestReport[] = [];
  for (const round of rounds) reports.push(...(await attempt(parts, { step, round: round._id }, () => run(parts, round))));
  return reports;
}

async function attempt(
  { log }: ContestParts,
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
    return [{ ...of, failed: messageOf(error) }];
  }
}

import { type Benchmark, type Comparison, interleaved } from '../benchmark.ts';
import { startChild } from '../child.ts';
import type { BareAnswers } from '../http/bare-process.ts';
import { withFolder } from './service-folder.ts';

/** Most milliseconds until an empty service is ready, and one that replays so many days first. */
const GOAL_MS = 3_000;
const REPLAY_GOAL_MS = 12_000;
const REPLAY_DAYS = 120;
const REPLAY_ROUNDS = 3;

/** Seconds from `npm start` after an installation until the service is up. */
export const START: Benchmark = {
  name: 'start',
  what: `a first start until it is ready, empty and with ${REPLAY_DAYS} days to replay, beside a process with one Express route`,
  async run({ rounds, report }): Promise<Comparison[]> {
    const sides = { ours: () => firstStart(0), baseline: bareStart };
    const { ours, baseline } = await interleaved(sides, { rounds, report });
    const meaning = 'Database, chain and contracts are its own, and come up with it.';
    const replayed: number[] = [];
    for (let round = 1; round <= REPLAY_ROUNDS; round++) {
      replayed.push(await firstStart(REPLAY_DAYS));
      report(`  replay ${round} of ${REPLAY_ROUNDS}`);
    }
    return [
      { kind: 'time', work: 'first start without a replay', meaning, ours, baseline, goalMs: GOAL_MS },
      {
        kind: 'time',
        work: `first start with ${REPLAY_DAYS} days`,
        meaning: 'All steps of each day, with their transactions, and the self-tests at the end.',
        ours: replayed,
        baseline: null,
        goalMs: REPLAY_GOAL_MS,
      },
    ];
  },
};

/** Milliseconds from nothing to a service that says that it is ready. */
async function firstStart(days: number): Promise<number> {
  return withFolder(async (start) => {
    const began = performance.now();
    const { url } = await start({ REPLAY_DAYS: String(days) });
    const { status } = await fetch(`${url}/ready`);
    if (status !== 200) throw new Error(`${url}/ready answers ${status}`);
    return performance.now() - began;
  });
}

async function bareStart(): Promise<number> {
  const began = performance.now();
  const bare = await startChild<BareAnswers>('http/bare-process.ts');
  try {
    await fetch(await bare.ask('serve', { path: '/ready', headers: {}, body: '{}' }));
    return performance.now() - began;
  } finally {
    await bare.end();
  }
}

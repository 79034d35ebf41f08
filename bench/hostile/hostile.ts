import type { Benchmark, Comparison } from '../benchmark.ts';
import { withFolder } from '../process/service-folder.ts';
import { ALLOWANCES } from './allowances.ts';
import type { Attack, Target } from './attack.ts';
import { openPaymentAttacks } from './payments.ts';
import { PIPELINING } from './pipelining.ts';
import { RANGES } from './ranges.ts';
import { SLOW_READERS } from './slow-readers.ts';
import { createAddresses } from './sockets.ts';
import { costOf, restShare } from './usage.ts';

const ATTACKS: readonly Attack[] = [...ALLOWANCES, PIPELINING, SLOW_READERS, RANGES];
/** What hostile input may cost, as a multiple of honest input. */
const MAX_TIMES = 10;
const REPLAY_DAYS = 7;
/** The limits of a service that is started without settings. */
const DEFAULT_LIMITS = { RATE_LIMIT_PUBLIC: '60', RATE_LIMIT_WALLET: '300', RATE_LIMIT_RPC: '10' };

/** What an attacker makes the service spend, beside what a client does with the same kind of request. */
export const HOSTILE: Benchmark = {
  name: 'hostile',
  what: 'CPU and memory that attacks cost, beside honest requests of the same kind',
  async run({ report }) {
    return withFolder(async (start, folder) => {
      const { url, child } = await start({ REPLAY_DAYS: String(REPLAY_DAYS), TRUST_PROXY: '127.0.0.1', ...DEFAULT_LIMITS });
      const target: Target = { url, pid: child.pid!, nextAddress: createAddresses(), report };
      const rest = await restShare(target.pid);
      const comparisons: Comparison[] = [];
      for (const attack of [...ATTACKS, ...(await openPaymentAttacks(target, folder))])
        comparisons.push(await compare(attack, target, rest));
      return comparisons;
    });
  },
};

async function compare(attack: Attack, target: Target, rest: number): Promise<Comparison> {
  // Code and answers that a first request loads are no cost of the second.
  await attack.honest(target);
  const honest = await measure(attack.honest, target, rest);
  const hostile = await measure(attack.hostile, target, rest);
  return {
    kind: 'cost',
    name: attack.name,
    meaning: attack.what,
    per: attack.per ?? 'kilobyte',
    baseline: honest,
    ours: hostile,
    maxTimes: MAX_TIMES,
  };
}

async function measure(send: Attack['honest'], target: Target, rest: number) {
  let sent = { requests: 0, bytes: 0 };
  const cost = await costOf(target.pid, rest, async () => {
    sent = await send(target);
  });
  return { ...sent, ...cost };
}

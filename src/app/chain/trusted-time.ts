import { type Chain, readChainHealth, readPendingBlockTime } from '../../chain/client.ts';
import type { Database } from '../../platform/mongo.ts';
import { createTrustedTime, type TrustedTime } from '../../platform/time/trusted-time.ts';
import type { ProcessContext } from '../process-context.ts';

export interface ComposeTrustedTimeDeps {
  chain: Chain;
  database: Pick<Database, 'now'>;
  now(): Date;
}

/** What decides, for every part of this process, whether an instant is past. */
export function composeTrustedTime(
  { config, log, shutdown }: ProcessContext,
  { chain, database, now }: ComposeTrustedTimeDeps,
): TrustedTime {
  const isLocal = config.chainMode !== 'real';
  return createTrustedTime({
    now,
    databaseNow: () => database.now(),
    // A local chain has blocks for transactions only; the block that it would make next has the time of its own clock.
    newestBlockAt: async () => (isLocal ? readPendingBlockTime(chain) : (await readChainHealth(chain)).at),
    signal: shutdown.signal,
    onChange: (reason) => {
      if (reason === null) log.info('the clocks of process and database agree again');
      else log.error({ reason }, 'the clocks of process and database disagree');
    },
  });
}

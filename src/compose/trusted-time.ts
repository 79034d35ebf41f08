import { type Chain, chainHealth, pendingBlockAt } from '../chain/client.ts';
import type { Database } from '../mongo.ts';
import { createTrustedTime, type TrustedTime } from '../trusted-time.ts';
import type { Frame } from './frame.ts';

export interface TrustedTimeComposition {
  chain: Chain;
  database: Pick<Database, 'now'>;
  now(): Date;
}

/** What decides, for every part of this process, whether an instant is past. */
export function composeTrustedTime({ config, log, shutdown }: Frame, { chain, database, now }: TrustedTimeComposition): TrustedTime {
  const isLocal = config.chainMode !== 'real';
  return createTrustedTime({
    now,
    databaseNow: () => database.now(),
    // A local chain has blocks for transactions only; the block that it would make next has the time of its own clock.
    newestBlockAt: async () => (isLocal ? pendingBlockAt(chain) : (await chainHealth(chain)).at),
    signal: shutdown.signal,
    onChange: (reason) => {
      if (reason === null) log.info('the clocks of process and database agree again');
      else log.error({ reason }, 'the clocks of process and database disagree');
    },
  });
}

import { createRateLimits } from '../access/rate-limits.ts';
import { openCountStore } from '../access/request-counts.ts';
import type { Config } from '../config.ts';
import type { AppOptions } from '../http/app.ts';
import { createChainWork } from '../http/security/chain-work.ts';
import type { Log } from '../log.ts';
import type { Database } from '../mongo.ts';
import type { Shutdown } from '../shutdown.ts';

export interface DoorParts extends Pick<AppOptions, 'identify' | 'admin' | 'adminPage'> {
  config: Pick<Config, 'TRUST_PROXY' | 'RATE_LIMIT_PUBLIC' | 'RATE_LIMIT_WALLET' | 'RATE_LIMIT_RPC' | 'RATE_LIMIT_TASKS'>;
  db: Database['db'];
  log: Log;
  shutdown: Pick<Shutdown, 'signal'>;
  now(): Date;
}

/** What stands before the routes of HTTP. */
export function composeDoor({ config, db, log, shutdown, now, ...who }: DoorParts): AppOptions {
  const limits = createRateLimits({
    counts: openCountStore(db, now),
    limits: {
      public: config.RATE_LIMIT_PUBLIC,
      wallet: config.RATE_LIMIT_WALLET,
      rpc: config.RATE_LIMIT_RPC,
      tasks: config.RATE_LIMIT_TASKS,
    },
    now,
    log,
  });
  return { ...who, log, limits, chainWork: createChainWork(), trustProxy: config.TRUST_PROXY, stopping: shutdown.signal };
}

/** Callers who ask while an answer is being made share it: a path that nobody is counted on costs one answer at a time. */
export function sharedWhileUnderWay<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

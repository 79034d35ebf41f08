import { createRateLimits } from '../../auth/rate-limit/rate-limits.ts';
import { createRequestCountStore } from '../../auth/rate-limit/request-count-store.ts';
import type { Config } from '../../platform/config/settings.ts';
import type { Log } from '../../platform/log.ts';
import type { Database } from '../../platform/mongo.ts';
import type { Shutdown } from '../../platform/shutdown.ts';
import type { AppOptions } from '../../transports/http/server/app.ts';
import { createChainWork } from '../../transports/http/server/security/chain-work.ts';

export interface ComposeHttpAppDeps extends Pick<AppOptions, 'identify' | 'admin' | 'adminPage'> {
  config: Pick<Config, 'TRUST_PROXY' | 'RATE_LIMIT_PUBLIC' | 'RATE_LIMIT_WALLET' | 'RATE_LIMIT_RPC' | 'RATE_LIMIT_TASKS'>;
  db: Database['db'];
  log: Log;
  shutdown: Pick<Shutdown, 'signal'>;
  now(): Date;
}

/** What stands before the routes of HTTP. */
export function composeAppOptions({ config, db, log, shutdown, now, ...who }: ComposeHttpAppDeps): AppOptions {
  const limits = createRateLimits({
    counts: createRequestCountStore(db, now),
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
export function shareWhileInFlight<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => {
    underWay ??= ask().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

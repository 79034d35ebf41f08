import type { Db } from 'mongodb';
import type { Chain } from '../../chain/client.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import { type Contest, createContest } from '../../contest/contest.ts';
import type { Market } from '../../market/market.ts';
import type { Log } from '../../platform/log.ts';
import type { TrustedTime } from '../../platform/time/trusted-time.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { ModelStore } from '../../record/model-store.ts';

export interface ComposeContestDeps {
  db: Db;
  chain: Chain;
  record: ForecastRecord;
  models: ModelStore;
  market: Market;
  /** The agent that signatures are bound to. */
  agentId: number;
  time: TrustedTime;
  now(): Date;
  log: Log;
}

/** The contest of one deployment. */
export function composeContest({ chain, agentId, ...options }: ComposeContestDeps): Contest {
  const deployment = { chainId: chain.chainId, identityRegistry: chain.addresses.identityRegistry, agentId };
  return createContest({
    ...options,
    deployment,
    isSignedBy: (signed) => isSignedBy(chain, signed),
  });
}

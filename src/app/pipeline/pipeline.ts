import type { Db } from 'mongodb';
import { createAttester } from '../../chain/eas/attester.ts';
import { createReporter } from '../../chain/erc8004/reputation.ts';
import { isReplayUnfinished } from '../../dev/replay.ts';
import type { Market } from '../../market/market.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { Forecaster } from '../../pipeline/forecaster.ts';
import { StepRunStore } from '../../pipeline/step-run-store.ts';
import type { TrustedTime } from '../../platform/time/trusted-time.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { ModelStore } from '../../record/model-store.ts';
import { openReportStores } from '../../record/report-store.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import { WagerSwitch } from '../../wager/wager-switch.ts';
import type { ComposedChain } from '../chain/chain.ts';
import type { EventPublishing } from '../events/event-log.ts';
import type { ProcessContext } from '../process-context.ts';
import { composeSelfTests } from './self-tests.ts';
import type { Venues } from './venues.ts';

export interface ComposePipelineDeps extends Pick<ComposedChain, 'chain' | 'wallets'>, Venues {
  db: Db;
  saltSecret: string;
  record: ForecastRecord;
  models: ModelStore;
  wagers: WagerBook;
  market: Market;
  push: Pick<EventPublishing, 'publish'>;
  /** Of the software. */
  version: string;
  /** The agent's id in the ERC-8004 identity registry. */
  agentId(): number;
  /** Where callers reach the service. */
  publicUrl(): string;
  now(): Date;
  time: TrustedTime;
}

/** What the steps of the day work with. */
export function composePipeline({ config, log, shutdown }: ProcessContext, deps: ComposePipelineDeps): PipelineDeps {
  const { db, chain, wallets, record, market, wagers, venue, otherVenues, saltSecret, publicUrl, version, now, time } = deps;
  const ownWallets = [wallets.attester.address, wallets.reporter.address];
  return {
    ...{ record, saltSecret, market, wagers, venue, otherVenues, publicUrl, time, log },
    forecaster: new Forecaster(deps.models),
    attester: createAttester(chain, wallets.attester),
    reporter: createReporter({ chain, wallet: wallets.reporter, agentId: async () => deps.agentId() }),
    placeWagers: config.WAGERS !== 'off' && config.WAGER_KILL_SWITCH === 'off',
    wagerSwitch: new WagerSwitch(db),
    findHoldReason: async () => ((await isReplayUnfinished(db)) ? 'the replay of past days is not finished; npm start finishes it' : null),
    reports: openReportStores(db),
    selfTests: composeSelfTests({ shutdown }, { db, chainId: chain.chainId, wallets: ownWallets, version, now }),
    runs: new StepRunStore(db, log),
    publishChanges: () => deps.push.publish(),
  };
}

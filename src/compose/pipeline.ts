import type { Db } from 'mongodb';
import { createAttester } from '../chain/attester.ts';
import { createReporter } from '../chain/reputation.ts';
import { replayUnfinished } from '../local/replay.ts';
import type { Market } from '../market/market.ts';
import { Forecaster } from '../pipeline/forecaster.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import { StepRuns } from '../pipeline/step-runs.ts';
import type { ModelStore } from '../record/models.ts';
import type { ForecastRecord } from '../record/record.ts';
import type { TrustedTime } from '../trusted-time.ts';
import { WagerSwitch } from '../wager/wager-switch.ts';
import type { WagerBook } from '../wager/wagers.ts';
import type { ComposedChain } from './chain.ts';
import type { Frame } from './frame.ts';
import type { Push } from './push.ts';
import { openReports } from './reports.ts';
import { composeSelfTests } from './self-tests.ts';
import type { Venues } from './venues.ts';

export interface PipelineComposition extends Pick<ComposedChain, 'chain' | 'wallets'>, Venues {
  db: Db;
  saltSecret: string;
  record: ForecastRecord;
  models: ModelStore;
  wagers: WagerBook;
  market: Market;
  push: Pick<Push, 'publish'>;
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
export function composePipeline({ config, log, shutdown }: Frame, parts: PipelineComposition): PipelineParts {
  const { db, chain, wallets, record, market, wagers, venue, otherVenues, saltSecret, publicUrl, version, now, time } = parts;
  const ownWallets = [wallets.attester.address, wallets.reporter.address];
  return {
    ...{ record, saltSecret, market, wagers, venue, otherVenues, publicUrl, time, log },
    forecaster: new Forecaster(parts.models),
    attester: createAttester(chain, wallets.attester),
    reporter: createReporter({ chain, wallet: wallets.reporter, agentId: async () => parts.agentId() }),
    placeWagers: config.WAGERS !== 'off' && config.WAGER_KILL_SWITCH === 'off',
    wagerSwitch: new WagerSwitch(db),
    heldBack: async () => ((await replayUnfinished(db)) ? 'the replay of past days is not finished; npm start finishes it' : null),
    reports: openReports(db),
    selfTests: composeSelfTests({ shutdown }, { db, chainId: chain.chainId, wallets: ownWallets, version, now }),
    runs: new StepRuns(db, log),
    emit: () => parts.push.publish(),
  };
}

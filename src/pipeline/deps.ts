import type { Attester } from '../chain/eas/attester.ts';
import type { Reporter } from '../chain/erc8004/reputation.ts';
import type { Market } from '../market/market.ts';
import type { Log } from '../platform/log.ts';
import type { TrustedTime } from '../platform/time/trusted-time.ts';
import type { ForecastRecord } from '../record/forecast-record.ts';
import type { ReportStores } from '../record/report-store.ts';
import type { Venue } from '../wager/venue.ts';
import type { WagerBook } from '../wager/wager-book.ts';
import type { WagerSwitch } from '../wager/wager-switch.ts';
import type { Forecaster } from './forecaster.ts';
import type { SelfTestDeps } from './self-test/deps.ts';
import type { StepRunStore } from './step-run-store.ts';

/** What the steps work with. */
export interface PipelineDeps {
  record: ForecastRecord;
  saltSecret: string;
  market: Market;
  forecaster: Forecaster;
  attester: Attester;
  reporter: Reporter;
  wagers: WagerBook;
  /** Where new wagers go. */
  venue: Venue;
  /** Where wagers may still stand that were made under other settings. */
  otherVenues: readonly Venue[];
  /** False stops new wagers; open ones still settle. */
  placeWagers: boolean;
  /** The operator's own, which stops new wagers while they would be placed. */
  wagerSwitch: Pick<WagerSwitch, 'getState'>;
  /** URL of the service, as outcome reports name it. */
  publicUrl(): string;
  /** Proves instants to the steps of today. */
  time: TrustedTime;
  /** Why no step may run now, or null. */
  findHoldReason(): Promise<string | null>;
  /** Where briefs and weekly reports are kept. */
  reports: ReportStores;
  /** What the service tests about itself. */
  selfTests: SelfTestDeps;
  runs: StepRunStore;
  /** Tells subscribers of what has changed. */
  publishChanges(): Promise<unknown>;
  log: Log;
}

/** Under which circumstances a step runs. */
export interface StepContext {
  /** The pipeline's clock: the wall clock, or the replayed time. */
  now: Date;
  replayed: boolean;
  /** Proves that an instant is past, or ahead; `now` alone proves nothing. */
  time: TrustedTime;
}

/** The circumstances of a step that runs today. */
export function createLiveContext({ time }: Pick<PipelineDeps, 'time'>, now: Date): StepContext {
  return { now, replayed: false, time };
}

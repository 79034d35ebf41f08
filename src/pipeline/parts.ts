import type { Attester } from '../chain/attester.ts';
import type { Reporter } from '../chain/reputation.ts';
import type { Log } from '../log.ts';
import type { Market } from '../market/market.ts';
import type { ForecastRecord } from '../record/record.ts';
import type { ReportStores } from '../record/report-stores.ts';
import type { TrustedTime } from '../trusted-time.ts';
import type { Venue } from '../wager/venue.ts';
import type { WagerSwitch } from '../wager/wager-switch.ts';
import type { WagerBook } from '../wager/wagers.ts';
import type { Forecaster } from './forecaster.ts';
import type { SelfTestParts } from './self-test/parts.ts';
import type { StepRuns } from './step-runs.ts';

/** What the steps work with. */
export interface PipelineParts {
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
  wagerSwitch: Pick<WagerSwitch, 'state'>;
  /** URL of the service, as outcome reports name it. */
  publicUrl(): string;
  /** Proves instants to the steps of today. */
  time: TrustedTime;
  /** Why no step may run now, or null. */
  heldBack(): Promise<string | null>;
  /** Where briefs and weekly reports are kept. */
  reports: ReportStores;
  /** What the service tests about itself. */
  selfTests: SelfTestParts;
  runs: StepRuns;
  /** Tells subscribers of what has changed. */
  emit(): Promise<unknown>;
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
export function liveContext({ time }: Pick<PipelineParts, 'time'>, now: Date): StepContext {
  return { now, replayed: false, time };
}

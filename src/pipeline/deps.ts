import type { Attester } from '../chain/eas/attester.ts';
import type { Reporter } from '../chain/erc8004/reputation.ts';
import type { DayBaselines } from '../forecast/baselines/day-baselines.ts';
import type { Market } from '../market/market.ts';
import type { Log } from '../platform/log.ts';
import { type TakenTime, takeTime } from '../platform/time/clock-reader.ts';
import type { TrustedTime } from '../platform/time/trusted-time.ts';
import type { CrowdFiguresReader } from '../record/crowd/crowd-figures.ts';
import type { DatasetService } from '../record/dataset/dataset-service.ts';
import type { RecordFigures } from '../record/figures/record-figures.ts';
import type { ForecastRecord } from '../record/forecast-record.ts';
import type { ReportStores } from '../record/report-store.ts';
import type { Venue } from '../wager/venue.ts';
import type { WagerBook } from '../wager/wager-book.ts';
import type { WagerSwitch } from '../wager/wager-switch.ts';
import type { Forecaster } from './forecaster.ts';
import type { SelfTestDeps } from './self-test/deps.ts';
import type { StepRunStore } from './step-run-store.ts';

export interface PipelineDeps {
  record: ForecastRecord;
  figures: RecordFigures;
  dataset: Pick<DatasetService, 'refresh'>;
  crowd: CrowdFiguresReader;
  baselines: DayBaselines;
  saltSecret: string;
  market: Market;
  forecaster: Forecaster;
  attester: Attester;
  reporter: Reporter;
  wagers: WagerBook;
  venue: Venue;
  /** Venues of other settings, where older wagers may be open. */
  otherVenues: readonly Venue[];
  /** False stops new wagers; open ones still settle. */
  placeWagers: boolean;
  wagerSwitch: Pick<WagerSwitch, 'getState'>;
  publicUrl(): string;
  time: TrustedTime;
  findHoldReason(): Promise<string | null>;
  reports: ReportStores;
  selfTests: SelfTestDeps;
  runs: StepRunStore;
  publishChanges(): Promise<unknown>;
  log: Log;
}

export interface StepContext {
  /** The pipeline's clock: wall clock, or replayed time. */
  now: Date;
  /** The moment of `now`, for a comparison with the database's clock; unset where all clocks are set to `now`. */
  taken?: TakenTime;
  replayed: boolean;
  /** The caller refreshes the figures once, after several steps. */
  refreshesLater?: boolean;
  /** Proves that an instant is past or ahead; `now` alone proves nothing. */
  time: TrustedTime;
}

export function createLiveContext({ time }: Pick<PipelineDeps, 'time'>, now: Date): StepContext {
  return { now, taken: takeTime(now), replayed: false, time };
}

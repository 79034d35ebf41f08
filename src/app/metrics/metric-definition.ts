import type { z } from 'zod';
import type { Revenue } from '../../commerce/ledger/revenue.ts';
import type { Day } from '../../forecast/day.ts';
import type { LogCounts } from '../../platform/log.ts';
import type { SELF_TEST_STATUS } from '../../record/self-test/schemas/envelope.ts';
import type { ShareUse } from '../../transports/http/server/sockets/connection-budget.ts';
import type { ServiceStatus } from '../../transports/http/service/health/status-schemas.ts';
import type { OpenWork } from './open-work.ts';
import type { WalletFigures } from './wallet-figures.ts';
import type { WorkCounts } from './work-counts.ts';

/** State of the service, which every process reads from database and chain. */
export interface StateSnapshot {
  status: ServiceStatus;
  work: OpenWork;
  /** Newest day whose forecasts are attested; null before the first. */
  attestedDay: Day | null;
  selfTests: readonly Pick<z.input<typeof SELF_TEST_STATUS>, 'test' | 'state' | 'overdue'>[];
  sales: Revenue['byChannel'];
  /** Null when the chain does not answer. */
  wallets: WalletFigures | null;
  nowMs: number;
}

/** State of this process, which is in its memory. */
export interface ProcessSnapshot {
  log: LogCounts;
  work: WorkCounts;
  requests: { running: number; waiting: number; limit: number; delayMs: number };
  /** Null until the process serves requests. */
  connections: Connections | null;
}

export interface Connections {
  shares: readonly ShareUse[];
  webSockets: number;
}

export interface Sample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** A gauge. Its help states the unit; no value may depend on an unrevealed forecast. */
export interface MetricDefinition<Snapshot> {
  name: `oracle_${string}`;
  help: string;
  labels?: readonly string[];
  read(snapshot: Snapshot): readonly Sample[];
}

export type StateMetric = MetricDefinition<StateSnapshot>;
export type ProcessMetric = MetricDefinition<ProcessSnapshot>;

export const one = (value: number): Sample[] => [{ value }];

export const flag = (isSet: boolean): number => (isSet ? 1 : 0);

/** No sample where the value is unknown: a zero would be a measurement. */
export function known<Value>(value: Value | null, toSamples: (value: Value) => readonly Sample[]): readonly Sample[] {
  return value === null ? [] : toSamples(value);
}

/** A sample for each entry of a record, under the name of its key. */
export function byKey(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

export const secondsSince = (time: string, nowMs: number): number => (nowMs - Date.parse(time)) / 1_000;

/** 0 without an instant: nothing waits. */
export function secondsOverdue(since: Date | null, nowMs: number): number {
  return since === null ? 0 : Math.max(0, (nowMs - since.getTime()) / 1_000);
}

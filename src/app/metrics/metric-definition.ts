import type { z } from 'zod';
import type { Revenue } from '../../commerce/ledger/revenue.ts';
import type { Day } from '../../forecast/day.ts';
import type { LogLineCounts } from '../../platform/log.ts';
import type { SELF_TEST_STATUS } from '../../record/self-test/schemas/envelope.ts';
import type { ServiceStatus } from '../../transports/http/service/health/status-schemas.ts';
import type { OpenWork } from './open-work.ts';

/** What a scrape reads once, and all series are taken from. */
export interface MetricsSnapshot {
  status: ServiceStatus;
  work: OpenWork;
  /** Newest day whose forecasts are attested; null before the first. */
  attestedDay: Day | null;
  selfTests: readonly Pick<z.input<typeof SELF_TEST_STATUS>, 'test' | 'state' | 'overdue'>[];
  sales: Revenue['byChannel'];
  logLines: Readonly<LogLineCounts>;
  nowMs: number;
}

export interface Sample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** A gauge. Its help states the unit; no value may depend on an unrevealed forecast. */
export interface MetricDefinition {
  name: `oracle_${string}`;
  help: string;
  labels?: readonly string[];
  read(snapshot: MetricsSnapshot): readonly Sample[];
}

export const one = (value: number): Sample[] => [{ value }];

export const flag = (isSet: boolean): number => (isSet ? 1 : 0);

/** No sample where the value is unknown: a zero would be a measurement. */
export function known<Value>(value: Value | null, toSamples: (value: Value) => readonly Sample[]): readonly Sample[] {
  return value === null ? [] : toSamples(value);
}

export const secondsSince = (time: string, nowMs: number): number => (nowMs - Date.parse(time)) / 1_000;

import { computeFeatures } from '../../features/compute-features.ts';
import { FEATURE_NAMES, type FeatureName, type FeatureTable } from '../../features/feature-table.ts';
import { BUSINESS_DAY_COLUMNS, type BusinessDayColumn, DAILY_COLUMNS, type DailyColumn, type InputFrame } from '../../input-frame.ts';
import { findFeatureDifferences, type KnownFeatures } from './point-in-time-audit.ts';

/** A pipeline broken on purpose: it reads one input a day early. */
export interface LagMutant {
  input: DailyColumn | BusinessDayColumn;
  what: string;
  /** False where it changes no feature from the first audited day to the last. */
  applicable: boolean;
  caught: boolean;
  features: FeatureName[];
  days: number;
  /** Why it does not apply; null where it does. */
  reason: string | null;
}

const MUTATIONS: Record<LagMutant['input'], string> = {
  close: "reads the next day's close",
  fearGreed: 'reads the Fear & Greed index of the next day',
  realizedPrice: 'reads the realized price of the same day, which is published a day later',
  takerBuyFraction: 'reads the taker share of the same day, which is published a day later',
  fundingRate: 'reads the funding rate of the same day, which is published a day later',
  gold: 'reads the gold price of the same day, which is published a day later',
  high: "reads the next day's high",
  low: "reads the next day's low",
  pmi: 'reads the purchasing managers index a day before its release',
  etfFlow: 'reads the ETF flows of the same day, which are published at night',
  sp500: 'reads the S&P 500 of the same day, before its close',
  dxy: 'reads the dollar index of the same day, before its close',
};

/** Runs the audit for every input with one day less lag. */
export function runLagMutants(frame: InputFrame, known: readonly KnownFeatures[]): LagMutant[] {
  const real = { frame, table: computeFeatures(frame) };
  return [...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS].map((input) => {
    const broken = computeFeatures(reduceLag(frame, input), real);
    const found = findFeatureDifferences(broken, known);
    const applicable = hasFeatureChange(real.table, broken, known);
    return {
      input,
      what: MUTATIONS[input],
      applicable,
      caught: applicable && found.length > 0,
      features: applicable ? FEATURE_NAMES.filter((name) => found.some(({ feature }) => feature === name)) : [],
      days: applicable ? new Set(found.map(({ day }) => day)).size : 0,
      reason: applicable ? null : explainNotApplicable(frame, input, known),
    };
  });
}

/** The frame of a pipeline that reads an input a day before it is known. */
export function reduceLag(frame: InputFrame, input: LagMutant['input']): InputFrame {
  if (isDailyColumn(input)) return { ...frame, [input]: frame[input].map((value, row) => frame[input][row + 1] ?? value) };
  // Features read observations dated the day before or earlier.
  return { ...frame, [input]: { ...frame[input], days: frame[input].days.map((day) => day - 1) } };
}

function isDailyColumn(input: LagMutant['input']): input is DailyColumn {
  return (DAILY_COLUMNS as readonly string[]).includes(input);
}

/** Whether two tables differ from the first audited day to the last. */
function hasFeatureChange(real: FeatureTable, broken: FeatureTable, known: readonly KnownFeatures[]): boolean {
  if (known.length === 0) return false;
  const rows = known.map(({ day }) => day - real.firstDay);
  const last = Math.max(...rows);
  for (let row = Math.min(...rows); row <= last; row++) {
    if (FEATURE_NAMES.some((name) => !Object.is(real[name][row], broken[name][row]))) return true;
  }
  return false;
}

function explainNotApplicable(frame: InputFrame, input: LagMutant['input'], known: readonly KnownFeatures[]): string {
  if (known.length === 0) return 'no day was audited';
  const values = isDailyColumn(input) ? frame[input] : frame[input].values;
  if (values.every(Number.isNaN)) return 'the history lacks this series';
  return 'no feature of the audited days depends on it';
}

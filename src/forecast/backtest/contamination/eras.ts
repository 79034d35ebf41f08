import { type Day, formatDay, parseDay } from '../../day.ts';
import type { HorizonDays } from '../../model.ts';
import { REGIME_NAMES, type Regime } from '../../regime.ts';
import type { Interval } from '../../scoring.ts';
import { directionOf } from '../../signal.ts';
import type { Difference } from '../../statistics/call-statistics.ts';
import { effectiveCount } from '../../statistics/effective-count.ts';
import { shareInterval } from '../../statistics/share-interval.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';
import { type MeasureName, measured, measuredDifference } from './era-measures.ts';

/** First trading day of spot bitcoin funds in the United States. */
export const ETF_START: Day = parseDay('2024-01-11');

/** What the model did on some days, direction and probability of every day, HOLD included. */
export interface EraFigures {
  n: number;
  /** How many independent days these are worth. */
  effectiveN: number;
  /** Share of days on which P(up) was on the right side of one half; null without days. */
  accuracy: number | null;
  /** Wilson, on `effectiveN` days. */
  accuracy95: Interval | null;
  /** Share of days on which the price rose. */
  alwaysUp: number | null;
  /** Days on which DOWN was the likelier direction: without any the calls are those of always saying UP. */
  downs: number;
  /** Accuracy minus `alwaysUp`. */
  edge: Difference | null;
  /** Against the base rate known at the time. */
  brierSkill: Difference | null;
  /** Against the returns of all training days. */
  crpsSkill: Difference | null;
  /** Against the returns of the last `RECENT_DAYS` training days. */
  recentCrpsSkill: Difference | null;
}

/** Days of one era, from the first to the last that was forecast; null without any. */
export interface Era extends EraFigures {
  from: string | null;
  to: string | null;
}

export interface HorizonEras {
  horizonDays: HorizonDays;
  folds: number;
  /** Before `ETF_START`. */
  preEtf: Era;
  /** From it on. */
  postEtf: Era;
  /** Figures of the later era minus those of the earlier one; null where one has no day. */
  difference: Record<MeasureName, Difference | null>;
  regimes: (EraFigures & { regime: Regime })[];
}

/** The folds of one horizon by era and by regime. */
export function horizonEras(horizonDays: HorizonDays, folds: readonly Pick<Fold, 'days'>[]): HorizonEras {
  const days = folds.flatMap((fold) => fold.days);
  const differenceOf = (name: MeasureName) => measuredDifference(days, ETF_START, name);
  return {
    horizonDays,
    folds: folds.length,
    preEtf: eraOf(
      days.filter(({ day }) => day < ETF_START),
      horizonDays,
    ),
    postEtf: eraOf(
      days.filter(({ day }) => day >= ETF_START),
      horizonDays,
    ),
    difference: {
      accuracy: differenceOf('accuracy'),
      edge: differenceOf('edge'),
      brierSkill: differenceOf('brierSkill'),
      crpsSkill: differenceOf('crpsSkill'),
      recentCrpsSkill: differenceOf('recentCrpsSkill'),
    },
    regimes: REGIME_NAMES.map((regime) => ({
      regime,
      ...figuresOf(
        days.filter((one) => one.regime === regime),
        horizonDays,
      ),
    })),
  };
}

function eraOf(days: readonly OutOfSampleDay[], horizonDays: number): Era {
  const first = days[0];
  const last = days.at(-1);
  return {
    from: first === undefined ? null : formatDay(first.day),
    to: last === undefined ? null : formatDay(last.day),
    ...figuresOf(days, horizonDays),
  };
}

function figuresOf(days: readonly OutOfSampleDay[], horizonDays: number): EraFigures {
  const effectiveN = effectiveCount(
    days.map(({ day }) => day),
    horizonDays,
  );
  const accuracy = measured(days, 'accuracy')?.value ?? null;
  return {
    n: days.length,
    effectiveN,
    accuracy,
    accuracy95: accuracy === null ? null : shareInterval(accuracy, effectiveN),
    alwaysUp: days.length === 0 ? null : days.filter(({ rose }) => rose).length / days.length,
    downs: days.filter(({ pUp }) => directionOf(pUp) === 'DOWN').length,
    edge: measured(days, 'edge'),
    brierSkill: measured(days, 'brierSkill'),
    crpsSkill: measured(days, 'crpsSkill'),
    recentCrpsSkill: measured(days, 'recentCrpsSkill'),
  };
}

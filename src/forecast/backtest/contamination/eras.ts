import { type Day, formatDay, parseDay } from '../../day.ts';
import { computeEffectiveCount } from '../../math/effective-count.ts';
import { computeShareInterval } from '../../math/share-interval.ts';
import type { HorizonDays } from '../../model.ts';
import { REGIME_NAMES, type Regime } from '../../regime/regime.ts';
import type { Interval } from '../../scoring.ts';
import { toDirection } from '../../signal.ts';
import type { IntervalEstimate } from '../../statistics/call-statistics.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';
import { type MeasureName, measureDays, measureEraDifference } from './era-measures.ts';

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
  edge: IntervalEstimate | null;
  /** Against the base rate known at the time. */
  brierSkill: IntervalEstimate | null;
  /** Against the returns of all training days. */
  crpsSkill: IntervalEstimate | null;
  /** Against the returns of the last `RECENT_DAYS` training days. */
  recentCrpsSkill: IntervalEstimate | null;
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
  difference: Record<MeasureName, IntervalEstimate | null>;
  regimes: (EraFigures & { regime: Regime })[];
}

/** The folds of one horizon by era and by regime. */
export function compareEras(horizonDays: HorizonDays, folds: readonly Pick<Fold, 'days'>[]): HorizonEras {
  const days = folds.flatMap((fold) => fold.days);
  const differenceOf = (name: MeasureName) => measureEraDifference(days, ETF_START, name);
  return {
    horizonDays,
    folds: folds.length,
    preEtf: buildEra(
      days.filter(({ day }) => day < ETF_START),
      horizonDays,
    ),
    postEtf: buildEra(
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
      ...computeEraFigures(
        days.filter((one) => one.regime === regime),
        horizonDays,
      ),
    })),
  };
}

function buildEra(days: readonly OutOfSampleDay[], horizonDays: number): Era {
  const first = days[0];
  const last = days.at(-1);
  return {
    from: first === undefined ? null : formatDay(first.day),
    to: last === undefined ? null : formatDay(last.day),
    ...computeEraFigures(days, horizonDays),
  };
}

function computeEraFigures(days: readonly OutOfSampleDay[], horizonDays: number): EraFigures {
  const effectiveN = computeEffectiveCount(
    days.map(({ day }) => day),
    horizonDays,
  );
  const accuracy = measureDays(days, 'accuracy')?.value ?? null;
  return {
    n: days.length,
    effectiveN,
    accuracy,
    accuracy95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
    alwaysUp: days.length === 0 ? null : days.filter(({ rose }) => rose).length / days.length,
    downs: days.filter(({ pUp }) => toDirection(pUp) === 'DOWN').length,
    edge: measureDays(days, 'edge'),
    brierSkill: measureDays(days, 'brierSkill'),
    crpsSkill: measureDays(days, 'crpsSkill'),
    recentCrpsSkill: measureDays(days, 'recentCrpsSkill'),
  };
}

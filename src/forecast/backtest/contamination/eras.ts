import { type Day, formatDay, parseDay } from '../../day.ts';
import type { IntervalEstimate } from '../../math/block-bootstrap.ts';
import { countEffective } from '../../math/effective-count.ts';
import type { HorizonDays } from '../../model.ts';
import { REGIME_NAMES, type Regime } from '../../regime/regime.ts';
import { computeShareInterval, type Interval } from '../../scoring.ts';
import { toDirection } from '../../signal.ts';
import type { Fold, OutOfSampleDay } from '../out-of-sample.ts';
import { type MeasureName, measureDays, measureEraDifference } from './era-measures.ts';

/** First trading day of spot bitcoin funds in the United States. */
export const ETF_START: Day = parseDay('2024-01-11');

/** Performance on some days by direction and probability, HOLD included. */
export interface EraFigures {
  n: number;
  effectiveN: number;
  /** Share of days with the right direction; null without days. */
  accuracy: number | null;
  /** Wilson interval on `effectiveN` days. */
  accuracy95: Interval | null;
  alwaysUp: number | null;
  /** Days with DOWN as the likelier direction; 0 equals always calling UP. */
  downs: number;
  edge: IntervalEstimate | null;
  /** Against the base rate known at the time. */
  brierSkill: IntervalEstimate | null;
  /** Against the returns of all training days. */
  crpsSkill: IntervalEstimate | null;
  /** Against the returns of the last `RECENT_RETURN_DAYS` training days. */
  recentCrpsSkill: IntervalEstimate | null;
}

/** An era with its first and last forecast day; null without any. */
export interface Era extends EraFigures {
  from: string | null;
  to: string | null;
}

export interface HorizonEras {
  horizonDays: HorizonDays;
  folds: number;
  preEtf: Era;
  postEtf: Era;
  /** Later era minus earlier one; null where one is empty. */
  difference: Record<MeasureName, IntervalEstimate | null>;
  regimes: (EraFigures & { regime: Regime })[];
}

export function compareEras(horizonDays: HorizonDays, folds: readonly Pick<Fold, 'days'>[]): HorizonEras {
  const days = folds.flatMap((fold) => fold.days);
  const eraOf = (isIn: (one: OutOfSampleDay) => boolean) => buildEra(days.filter(isIn), horizonDays);
  const differenceOf = (name: MeasureName) => measureEraDifference(days, ETF_START, name);
  return {
    horizonDays,
    folds: folds.length,
    preEtf: eraOf(({ day }) => day < ETF_START),
    postEtf: eraOf(({ day }) => day >= ETF_START),
    difference: {
      accuracy: differenceOf('accuracy'),
      edge: differenceOf('edge'),
      brierSkill: differenceOf('brierSkill'),
      crpsSkill: differenceOf('crpsSkill'),
      recentCrpsSkill: differenceOf('recentCrpsSkill'),
    },
    regimes: REGIME_NAMES.map((regime) => {
      const own = days.filter((one) => one.regime === regime);
      return { regime, ...computeEraFigures(own, horizonDays) };
    }),
  };
}

function buildEra(days: readonly OutOfSampleDay[], horizonDays: number): Era {
  const dayOrNull = (one: OutOfSampleDay | undefined) => (one === undefined ? null : formatDay(one.day));
  return { from: dayOrNull(days[0]), to: dayOrNull(days.at(-1)), ...computeEraFigures(days, horizonDays) };
}

function computeEraFigures(days: readonly OutOfSampleDay[], horizonDays: number): EraFigures {
  const effectiveN = countEffective(days, horizonDays);
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

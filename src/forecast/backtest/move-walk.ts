import { bootstrapEstimate } from '../bootstrap.ts';
import { type Day, formatDay } from '../day.ts';
import { sum } from '../math.ts';
import { formatHorizonName, type HorizonDays, type HorizonModel } from '../model.ts';
import { MOVE_SIZES, type MoveForecast } from '../move.ts';
import { MOVE_MODEL, type MoveFit, MoveForecaster, type MoveHistory } from '../move-forecaster.ts';
import { fitReferences, forecastByEwma, scoreProbability } from '../move-scores.ts';
import {
  type CanaryDescription,
  type CanaryRun,
  completedCanary,
  countDifferences,
  type ForecastCuts,
  NO_FOLD,
  skippedCanary,
} from './canaries.ts';
import { computeReferenceSkill, type Fold, LAST_LOOK_FOLDS } from './out-of-sample.ts';

/** The fits of a version by horizon and fold. */
interface VersionFits {
  version: { name: string };
  walks: readonly { horizonDays: HorizonDays; folds: readonly { fold: Fold; model: HorizonModel }[] }[];
}

/** One day of a fold with its size of the move, and P(big move) of the references. */
interface WalkedMove extends References {
  fold: number;
  day: Day;
  move: MoveForecast;
  big: boolean;
}

/** P(big move), 0 to 1. */
interface References {
  frequency: number;
  ewma: number;
}

/** Sizes of the moves of one horizon's folds. */
export interface MoveWalk {
  horizonDays: HorizonDays;
  days: WalkedMove[];
}

/** The size of the move on the days of all folds, of the fits of their version; days without one are left out. */
export function walkMoves(versions: readonly VersionFits[], history: MoveHistory): MoveWalk[] {
  const forecaster = new MoveForecaster();
  const walks = versions.find(({ version }) => version.name === MOVE_MODEL.name)?.walks ?? [];
  return walks.map(({ horizonDays, folds }) => {
    const days = folds.flatMap(({ fold, model }) => {
      const referencesOf = createReferences(history, model.block, horizonDays);
      return fold.days.flatMap(({ day, row, realised }): WalkedMove[] => {
        const [move, references] = [forecaster.forecast(history, day, model), referencesOf(row)];
        return move === null || references === null
          ? []
          : [{ fold: fold.fold, day, move, big: Math.abs(realised) > move.bigMove, ...references }];
      });
    });
    return { horizonDays, days };
  });
}

/** References of a block's days, by row; they read nothing after its training days but the variance at the forecast. */
function createReferences({ frame, features }: MoveHistory, block: number, horizonDays: HorizonDays) {
  const fit = fitReferences({ firstDay: frame.firstDay, closes: frame.close }, features.v94, block, horizonDays);
  return (row: number): References | null => fit && { frequency: fit.frequency, ewma: forecastByEwma(fit, features.v94[row], horizonDays) };
}

export type MoveReport = ReturnType<typeof buildMoveReport>;

/** P(big move) of one horizon against its references. */
export function buildMoveReport({ horizonDays, days }: MoveWalk) {
  const lastLook = days.filter(({ fold }) => fold >= LAST_LOOK_FOLDS.from && fold <= LAST_LOOK_FOLDS.to);
  const folds = new Set(lastLook.map(({ fold }) => fold)).size;
  return {
    horizonDays,
    horizon: formatHorizonName(horizonDays),
    /** Null without a day. */
    pooled: days.length === 0 ? null : poolMoves(days),
    /** The same of `LAST_LOOK_FOLDS`; null until all of them are complete. */
    lastLook: folds === LAST_LOOK_FOLDS.to - LAST_LOOK_FOLDS.from + 1 ? poolMoves(lastLook) : null,
  };
}

function poolMoves(days: readonly WalkedMove[]) {
  const skill = (ours: (day: WalkedMove) => number, theirs: (day: WalkedMove) => number) =>
    computeReferenceSkill(
      days.map((one) => ({ day: one.day, ours: scoreProbability(ours(one), one.big), theirs: scoreProbability(theirs(one), one.big) })),
    );
  const forecast = ({ move }: WalkedMove) => move.pBig;
  const [frequency, ewma] = [(one: WalkedMove) => one.frequency, (one: WalkedMove) => one.ewma];
  return {
    n: days.length,
    big: shareOfBig(days),
    /** Brier skills with their intervals; null where a reference was never wrong. */
    overFrequency: skill(forecast, frequency),
    overEwma: skill(forecast, ewma),
    ewmaOverFrequency: skill(ewma, frequency),
    bySize: MOVE_SIZES.map((moveSize) => {
      const own = days.filter(({ move }) => move.moveSize === moveSize);
      return { moveSize, n: own.length, big: shareOfBig(own) };
    }),
    /** Share of big moves on WILD days less that on CALM days; null where one has no day. */
    wildLessCalm: estimateWildLessCalm(days),
  };
}

function shareOfBig(days: readonly WalkedMove[]): number | null {
  return days.length === 0 ? null : days.filter(({ big }) => big).length / days.length;
}

function estimateWildLessCalm(days: readonly WalkedMove[]) {
  const columnOf = (of: (day: WalkedMove) => boolean) => Float64Array.from(days, (one) => (of(one) ? 1 : 0));
  const columns = (['WILD', 'CALM'] as const).flatMap((size) => [
    columnOf(({ big, move }) => big && move.moveSize === size),
    columnOf(({ move }) => move.moveSize === size),
  ]);
  const statistic = ([bigWild, wild, bigCalm, calm]: Iterable<number>) => bigWild / wild - bigCalm / calm;
  const value = statistic(columns.map(sum));
  return Number.isFinite(value) ? bootstrapEstimate(value, { columns, statistic, range: { low: -1, high: 1 } }) : null;
}

const MOVE_CUT_TEXT: CanaryDescription = {
  name: 'move-cut',
  what: 'Cuts every input at a day, recomputes features, and the size of the move by the model of the fold with its limits and references: every value must be bit-identical to the fold',
  unit: 'values that differ',
};

/** What the size of the move is computed by; canaries also run ones broken on purpose. */
interface MoveSteps {
  forecast(history: MoveHistory, day: Day, fit: MoveFit): MoveForecast | null;
  references(history: MoveHistory, day: Day, fit: { block: number; horizonDays: HorizonDays }): References | null;
}

function createMoveSteps(): MoveSteps {
  const forecaster = new MoveForecaster();
  return {
    forecast: (history, day, fit) => forecaster.forecast(history, day, fit),
    references: (history, day, { block, horizonDays }) => createReferences(history, block, horizonDays)(day - history.frame.firstDay),
  };
}

/** Days that the mutants read ahead. */
const AHEAD_DAYS = 30;

function getDayAhead({ frame }: MoveHistory, day: Day): Day {
  return Math.min(day + AHEAD_DAYS, frame.firstDay + frame.close.length - 1);
}

const MUTANTS: readonly { what: string; broken(steps: MoveSteps): MoveSteps }[] = [
  {
    what: `the limits of the thirds are those of the 730 days until ${AHEAD_DAYS - 1} days after the day`,
    broken: ({ forecast, ...steps }) => ({
      ...steps,
      forecast(history, day, fit) {
        const [move, later] = [forecast(history, day, fit), forecast(history, getDayAhead(history, day), fit)];
        return move && later && { ...move, calmUpTo: later.calmUpTo, wildFrom: later.wildFrom };
      },
    }),
  },
  {
    what: `the width is that of ${AHEAD_DAYS} days later`,
    broken: ({ forecast, ...steps }) => ({ ...steps, forecast: (history, day, fit) => forecast(history, getDayAhead(history, day), fit) }),
  },
  {
    what: 'the references are trained on the block too',
    broken: ({ references, ...steps }) => ({
      ...steps,
      references: (history, day, { block, ...fit }) => references(history, day, { ...fit, block: block + 1 }),
    }),
  },
];

/** Checks on a few days of each fold that the size of the move and its references read nothing later than the day. */
export function runMoveCutCanary({ walks }: VersionFits, moves: readonly MoveWalk[], cut: ForecastCuts, history: MoveHistory): CanaryRun {
  const models = new Map(walks.flatMap((walk) => walk.folds.map((one) => [one.fold, one.model] as const)));
  const sized = new Map(moves.map(({ horizonDays, days }) => [horizonDays, new Map(days.map((one) => [one.day, one]))]));
  const known = cut.sample
    .map(({ fold, day: { day, row } }) => {
      const [model, cutHistory] = [models.get(fold)!, cut.cuts.get(row)!];
      return { day, model, cutHistory, walked: sized.get(fold.model.horizonDays)?.get(day) };
    })
    // Of one history after the other, so that what is known of the one before is kept.
    .sort((a, b) => a.day - b.day);
  const days = known.filter(({ walked }) => walked !== undefined);
  if (days.length === 0) return skippedCanary(MOVE_CUT_TEXT, cut.sample.length === 0 ? NO_FOLD : 'no day of a fold has a size of the move');
  const [whole, later] = [createMoveSteps(), createMoveSteps()];
  const read = (steps: MoveSteps, { day, model }: (typeof days)[number], from: MoveHistory) =>
    listValues(steps.forecast(from, day, model), steps.references(from, day, model));
  const longest = days.filter(({ model }) => model.horizonDays === cut.aheadDays);
  return completedCanary(MOVE_CUT_TEXT, {
    limit: 0,
    figure: sum(days.map((one) => countDifferences(listValues(one.walked!.move, one.walked!), read(later, one, one.cutHistory)))),
    note: `${days.length} days of folds, from ${formatDay(days[0].day)}`,
    mutants: MUTANTS.map(({ what, broken }) => ({
      what,
      figure: sum(longest.map((one) => countDifferences(read(broken(whole), one, history), read(broken(later), one, one.cutHistory)))),
    })),
  });
}

function listValues(move: MoveForecast | null, references: References | null) {
  if (move === null || references === null) return [];
  const { moveSize, pBig, bigMove, width80, width90, calmUpTo, wildFrom } = move;
  return [moveSize, pBig, bigMove, width80, width90, calmUpTo, wildFrom, references.frequency, references.ewma];
}

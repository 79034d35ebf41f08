import type { ForestRow } from '../charts/forest-plot.ts';
import { formatPercent } from '../lib/format.ts';
import type { ApiResponses } from '../state/responses.ts';

type Scorecard = ApiResponses['scorecard'];
interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}
/** `estimate` is kept even when it is not drawn; `proves`: whether it may count as skill. */
export type SkillRow = ForestRow & { n: number; unit: string; estimate: Estimate | null; proves: boolean };

/** Compares the record with naive forecasts and with a market. */
export function buildSkillRows(scorecard: Pick<Scorecard, 'statistics' | 'marketSkill' | 'predictions'>): SkillRow[] {
  return [
    compareWithAlwaysUp(scorecard),
    compareSelection(scorecard),
    compareWithBaseRate(scorecard),
    compareWithMarket(scorecard),
    compareWithCertainty(scorecard),
  ];
}

function compareWithAlwaysUp({ statistics: { calls }, predictions }: Pick<Scorecard, 'statistics' | 'predictions'>) {
  const someDown = predictions.some(({ outcome, direction }) => outcome !== null && direction === 'DOWN');
  const uncalled = calls.n === 0 ? 'no call resolved yet' : 'every call was UP: see the choice of days';
  return buildSkillRow({
    label: 'Direction, against always UP',
    unit: 'points of accuracy',
    n: calls.n,
    of: 'calls',
    estimate: calls.alwaysUp?.difference ?? null,
    without: someDown ? 'too few DOWN calls' : uncalled,
  });
}

/** Days called UP against HOLD days: skill that calls of UP alone can show. */
function compareSelection({ statistics: { calls } }: Pick<Scorecard, 'statistics'>) {
  const estimate = calls.selection?.overHeld ?? null;
  return buildSkillRow({
    label: 'Choice of days, against HOLD days',
    unit: 'points of rises',
    n: calls.n,
    of: 'calls',
    estimate,
    without: estimate === null ? 'no HOLD or no UP call resolved yet' : 'too few days',
  });
}

function compareWithBaseRate({ statistics: { probabilities } }: Pick<Scorecard, 'statistics'>) {
  const estimate = probabilities?.climatologySkill ?? null;
  return buildSkillRow({
    label: 'Probability, against the base rate',
    unit: 'Brier skill',
    n: probabilities?.n ?? 0,
    of: 'outcomes',
    estimate,
    without: estimate === null ? 'base rate not known' : 'too few days',
  });
}

/** A weekly strike question, not the direction. */
function compareWithMarket({ marketSkill: { skill, quotesAreOurs } }: Pick<Scorecard, 'marketSkill'>): SkillRow {
  const weekly = buildSkillRow({
    label: 'Weekly strike, against the market',
    unit: 'Brier skill',
    n: skill?.weeks ?? 0,
    of: skill?.weeks === 1 ? 'week' : 'weeks',
    estimate: skill,
    without: skill === null ? 'no week settled yet' : 'too few weeks',
  });
  if (!quotesAreOurs) return weekly;
  return { ...weekly, quiet: true, proves: false, remark: skill === null ? weekly.remark : 'own quotes: no evidence' };
}

function compareWithCertainty({ statistics: { probabilities } }: Pick<Scorecard, 'statistics'>): SkillRow {
  const estimate = probabilities?.alwaysUpSkill ?? null;
  const certainty = buildSkillRow({
    label: 'Probability, against certain UP',
    unit: 'Brier skill',
    n: probabilities?.n ?? 0,
    of: 'outcomes',
    estimate,
    without: estimate === null ? 'never wrong so far' : 'too few days',
  });
  const remark = certainty.value === null ? certainty.remark : 'any hedged probability beats certainty: no evidence about direction';
  return { ...certainty, quiet: true, proves: false, remark };
}

interface SkillRowOptions {
  label: string;
  unit: string;
  n: number;
  of: string;
  estimate: Estimate | null;
  without: string;
}

/** @param options `without`: remark when there is no interval */
function buildSkillRow({ label, unit, n, of, estimate, without }: SkillRowOptions): SkillRow {
  const counted = `${n.toLocaleString('en-US')} ${of}`;
  const common = { label, note: unit, unit, n, estimate, proves: true };
  // An estimate without an interval would suggest more than it proves.
  if (estimate === null || estimate.low === null || estimate.high === null) {
    return { ...common, value: null, low: null, high: null, figures: counted, remark: without };
  }
  const { value, low, high } = estimate;
  const figures = `${formatSigned(value)} (${formatSigned(low)} to ${formatSigned(high)}), ${counted}`;
  return { ...common, value, low, high, figures, remark: formatSignificance(low, high) };
}

function formatSigned(value: number) {
  return `${value < 0 ? '−' : '+'}${formatPercent(Math.abs(value))}`;
}

function formatSignificance(low: number, high: number) {
  if (low > 0) return 'better: clear of zero';
  return high < 0 ? 'worse: clear of zero' : 'not measurably different from zero';
}

import type { UpdateFilter } from 'mongodb';
import { deriveSalt } from '../../../src/chain/eas/eas.ts';
import { toDay } from '../../../src/forecast/day.ts';
import { createLiveContext } from '../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../src/pipeline/pipeline.ts';
import { openDistributions } from '../../../src/record/distributions.ts';
import {
  type CommittedValues,
  type DayDoc,
  type ForecastDoc,
  readQuantilesMicro,
  type StoredDistribution,
  storeDistribution,
} from '../../../src/record/forecast-doc.ts';
import type { WagerDoc } from '../../../src/wager/wagers.ts';
import type { TestService } from '../service/service.ts';

/** Values of everything unrevealed, as different as possible: figures that occur nowhere else in a service. */
export const PLANTED = {
  up: {
    values: {
      ...{ signal: 'BUY', direction: 'UP', confidence: 0.873149, confidenceBps: 8731, pUp: 0.873149, pUpBps: 8731 },
      ...{ climatology: 0.542193, climatology4y: 0.531719, threshold: 0.104371, distribution: { scale: 0.077131, shift: 0.055193 } },
    },
    quantilesFrom: 41_111.17,
    categoryScore: 0.613719,
    outcome: 'WIN',
    wager: { state: 'PLACED', side: 'YES', pModel: 0.839173, pBelieved: 0.771391, contracts: 41_773, costMicros: 31_771_300_000 },
  },
  down: {
    values: {
      ...{ signal: 'SELL', direction: 'DOWN', confidence: 0.812757, confidenceBps: 8128, pUp: 0.187243, pUpBps: 1872 },
      ...{ climatology: 0.457811, climatology4y: 0.468283, threshold: 0.004373, distribution: { scale: 0.137713, shift: -0.091957 } },
    },
    quantilesFrom: 33_333.71,
    categoryScore: -0.713917,
    outcome: 'LOSS',
    wager: { state: 'SKIPPED', side: null, pModel: 0.060829, pBelieved: 0.228613, contracts: 0, costMicros: 0 },
  },
  flat: {
    values: {
      ...{ signal: 'HOLD', direction: 'DOWN', confidence: 0.671319, confidenceBps: 6713, pUp: 0.328681, pUpBps: 3287 },
      ...{ climatology: 0.611353, climatology4y: 0.598317, threshold: 0.293717, distribution: { scale: 0.211373, shift: -0.017093 } },
    },
    quantilesFrom: 22_777.31,
    categoryScore: 0.039171,
    outcome: 'HOLD',
    wager: { state: 'PLACED', side: 'NO', pModel: 0.377193, pBelieved: 0.391571, contracts: 29_317, costMicros: 17_919_300_000 },
  },
} as const satisfies Record<string, { values: Partial<CommittedValues>; wager: Partial<WagerDoc>; [figure: string]: unknown }>;

export type PlantedSide = keyof typeof PLANTED;

export const PLANTED_SIDES = Object.keys(PLANTED) as PlantedSide[];

const LEVELS = ['p05', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95'];

function quantilesOf(side: PlantedSide): Record<string, number> {
  return Object.fromEntries(LEVELS.map((level, index) => [level, PLANTED[side].quantilesFrom + index * 703.19]));
}

/** The forecasts that not everybody may read: not revealed on chain, and of void ones those whose window is not over. */
export async function untoldForecasts({ pipeline, http }: TestService): Promise<ForecastDoc[]> {
  const docs = await pipeline.record.forecasts.find({ reveal: null }).toArray();
  return docs.filter(({ state, resolvesAt }) => state !== 'VOID' || resolvesAt > http.now());
}

/**
 * What of an unrevealed forecast P(up) is in, by the member of an answer: no public caller may read it, and no caller at all the committed
 * quantiles. The size of the move, its limits and the ranges, from which the median is taken out, are public at once.
 */
export const GATED_MEMBERS = [
  ...['direction', 'confidence', 'pUp', 'tilt', 'salt', 'opening', 'outcome'],
  ...['band80', 'quantiles', 'quantilesMicro', 'distribution', 'openings', 'categories', 'thresholds'],
  // P(drop), P(above a strike), and differences to the price of a market.
  ...['pDrop', 'pAbove', 'strikes', 'modelProbability', 'difference', 'differences'],
] as const;

/** Moves the committed distributions of a forecast as P(up) does: their widths stay. */
function shiftDistributions(stored: readonly StoredDistribution[], shift: number): StoredDistribution[] {
  return stored.map((one) => {
    const quantilesMicro = readQuantilesMicro(one);
    const residualQuantiles = quantilesMicro.map((value) => (value - quantilesMicro[99]!) / 1e6);
    return storeDistribution(one.name, one.modelVersion, { scale: 1, shift: -shift, residualQuantiles });
  });
}

/**
 * Writes one set of values into everything unrevealed: values of forecasts, their distributions, outcomes that are decided and not
 * revealed, wagers; and has the reports made from that. Nothing that everybody may know is touched.
 */
export async function plant(service: TestService, side: PlantedSide): Promise<void> {
  const { pipeline } = service;
  const { forecasts, days } = pipeline.record;
  const { categoryScore, outcome, wager } = PLANTED[side];
  const values = { ...PLANTED[side].values, priceQuantiles: quantilesOf(side) } satisfies Omit<CommittedValues, 'btcPriceCents'>;
  const untold = await untoldForecasts(service);
  const distributions = await pipeline.record.findDistributions(untold.map(({ day }) => day));
  for (const { _id, day, horizonDays, resolution, values: own } of untold) {
    const { btcPriceCents } = own!;
    const decided = resolution === null ? {} : { 'resolution.outcome': outcome };
    await forecasts.updateOne({ _id }, { $set: { values: { ...values, btcPriceCents }, ...decided } } as UpdateFilter<ForecastDoc>);
    const trend = { score: categoryScore, signal: values.signal };
    const moved = shiftDistributions(distributions.get(day)?.[horizonDays] ?? [], values.distribution.shift);
    const forecast = {
      [`forecasts.${horizonDays}`]: { ...values, btcPriceCents },
      [`distributions.${horizonDays}`]: moved,
      'categories.trend': trend,
    };
    await days.updateOne({ day }, { $set: forecast } as UpdateFilter<DayDoc>);
  }
  await plantWagers(service, wager, Math.min(...untold.map(({ day }) => day)));
  await remakeReports(service);
}

/** The wager of a day gives its forecasts away: also of a day with a single unrevealed one, and of all that follow. */
async function plantWagers({ pipeline }: TestService, wager: (typeof PLANTED)[PlantedSide]['wager'], from: number) {
  const { wagers } = pipeline.wagers;
  for (const { _id, winner } of await wagers.find({ day: { $gte: from }, market: { $ne: null } }).toArray()) {
    const staked = wager.side !== null && winner !== null;
    const settled = staked ? { state: winner === wager.side ? ('WIN' as const) : ('LOSS' as const) } : {};
    const skippedBecause = wager.state === 'SKIPPED' ? 'the edge is too small' : null;
    await wagers.updateOne(
      { _id },
      { $set: { ...wager, weight: 0.441923, limitCostMicros: wager.costMicros, skippedBecause, ...settled } },
    );
  }
}

/** What was written from the record before is written again, and what each step says of it. */
async function remakeReports({ pipeline, database, http }: TestService): Promise<void> {
  for (const name of ['briefs', 'weekly_reports', 'step_runs']) await database.db.collection(name).deleteMany({});
  // The others are made of the history, which nothing is planted in.
  await database.db.collection('self_tests').deleteMany({ test: { $in: ['polymarket-comparison', 'self-report'] } });
  const now = http.now();
  const today = toDay(now.getTime());
  for (const [step, day] of [
    ['wager', today],
    ['settle', today],
    ['reputation', today],
    ['brief', today - 1],
    ['brief', today],
    ['weekly-report', today],
    ['backtest', today],
    ['diagnostics', today],
  ] as const) {
    const outcome = await runStep(pipeline, step, day, createLiveContext(pipeline, now));
    if (!('done' in outcome)) throw new Error(`${step} is not done: ${JSON.stringify(outcome)}`);
  }
}

/** A secret, and every way in which it may be written. */
export interface Secret {
  what: string;
  words: string[];
}

/** The planted values that only Basic and Premium callers may read. */
export function paidSecrets(side: PlantedSide): Secret[] {
  const { values, wager } = PLANTED[side];
  return [
    { what: 'confidence', words: probabilityWords(values.confidence, values.confidenceBps) },
    { what: 'pUp', words: probabilityWords(values.pUp, values.pUpBps) },
    { what: 'model probability of the wager', words: probabilityWords(wager.pModel) },
    ...premiumSecrets(side),
  ];
}

/** What only Premium callers may know. */
export function premiumSecrets(side: PlantedSide): Secret[] {
  const { values, wager, categoryScore } = PLANTED[side];
  const quantiles = Object.entries(quantilesOf(side)).map(([level, price]) => ({ what: `quantile ${level}`, words: priceWords(price) }));
  return [
    ...quantiles,
    {
      what: 'threshold',
      words: [...numberWords(values.threshold), ...numberWords(0.5 + values.threshold), ...numberWords(0.5 - values.threshold)],
    },
    { what: 'climatology', words: numberWords(values.climatology) },
    { what: 'base rate of four years', words: numberWords(values.climatology4y) },
    { what: 'scale', words: numberWords(values.distribution.scale) },
    { what: 'shift', words: numberWords(Math.abs(values.distribution.shift)) },
    { what: 'category score', words: numberWords(Math.abs(categoryScore)) },
    { what: 'believed probability of the wager', words: probabilityWords(wager.pBelieved) },
    { what: 'weight of the model', words: numberWords(0.441923) },
    {
      what: 'stake',
      words: wager.contracts === 0 ? [] : [String(wager.contracts), String(wager.costMicros), (wager.costMicros / 1e6).toFixed(2)],
    },
  ];
}

/** Salts of the forecasts that not everybody may read. */
export async function saltSecrets(service: TestService): Promise<Secret[]> {
  const docs = await untoldForecasts(service);
  return docs.map(({ _id }) => ({ what: `salt of ${_id}`, words: [deriveSalt(service.pipeline.saltSecret, _id).slice(2)] }));
}

/** Salts and quantiles of the committed distributions of forecasts, by default of those that no caller may read them of. */
export async function distributionSecrets(service: TestService, docs?: readonly ForecastDoc[]): Promise<Secret[]> {
  const { record, saltSecret } = service.pipeline;
  const wanted = docs ?? (await record.forecasts.find({ reveal: null }).toArray());
  const distributions = await record.findDistributions(wanted.map(({ day }) => day));
  return wanted.flatMap(({ _id, day, horizonDays }) =>
    openDistributions(saltSecret, _id, distributions.get(day)?.[horizonDays] ?? []).map(({ modelVersion, salt, quantilesMicro }) => ({
      what: `distribution of ${_id} by ${modelVersion}`,
      // As many characters as a salt has.
      words: [salt.slice(2), quantilesMicro.join().slice(200, 264)],
    })),
  );
}

/** A fraction with four to six digits. */
function numberWords(value: number): string[] {
  return [4, 5, 6].map((digits) => value.toFixed(digits));
}

/** As a fraction, in percent and in basis points. */
function probabilityWords(p: number, bps = Math.round(p * 10_000)): string[] {
  return [...numberWords(p), p.toFixed(3), (bps / 10_000).toFixed(4), ...[1, 2].map((digits) => (p * 100).toFixed(digits)), String(bps)];
}

function priceWords(price: number): string[] {
  return [price.toFixed(2), price.toFixed(1), price.toFixed(0), String(Math.round(price * 100)), Math.round(price).toLocaleString('en-US')];
}

/** The secrets in a text. Numbers are found as whole numbers only, hexadecimal digits anywhere. */
export function secretsIn(text: string, secrets: readonly Secret[]): string[] {
  // Hundreds of whole numbers, some of which a planted one equals; `distributionSecrets` finds those of unresolved forecasts.
  const rest = text.replace(/\\*"quantilesMicro\\*":\s*\[[-\d,\s\\n]*\]/g, '');
  const numbers = new Set([
    ...[...rest.matchAll(/(?<![\w.])\d+(?:\.\d+)?(?![\w]|\.\d)/g)].map(([number]) => trimmed(number)),
    ...[...rest.matchAll(/(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])/g)].map(([number]) => trimmed(number.replaceAll(',', ''))),
  ]);
  const isRevealed = (word: string) => (word.length === 64 ? text.includes(word) : numbers.has(trimmed(word.replaceAll(',', ''))));
  return secrets.filter(({ words }) => words.some(isRevealed)).map(({ what }) => what);
}

/** `0.50` and `0.5` are the same. */
function trimmed(number: string): string {
  return number.includes('.') ? number.replace(/\.?0+$/, '') : number;
}

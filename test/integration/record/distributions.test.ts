import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { computeDistributionDigest } from '../../../src/chain/eas/schemas.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { meanBy } from '../../../src/forecast/math.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { scoreProbability } from '../../../src/forecast/move-scores.ts';
import { DATASET_TABLES, readRowsByYear } from '../../../src/record/dataset-tables.ts';
import type { DistributionScoresDoc } from '../../../src/record/distribution-scores.ts';
import { openDistributions } from '../../../src/record/distributions.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 10;
const firstDay = today() - DAYS;
let service: TestService;

beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = firstDay; day < today(); day++) await runPastDay(service, day);
});
afterAll(() => service.stop());

const readScores = () => service.database.db.collection<DistributionScoresDoc>('distribution_scores').find().sort({ _id: 1 }).toArray();

it('the attested metadata of a day holds a digest of every distribution, which its opening has', async () => {
  const { record, saltSecret } = service.pipeline;
  const { metadata, models } = (await record.findDay(firstDay))!;
  expect(models).toMatchObject([
    { name: 'm0-d1', role: 'champion', missingBecause: null },
    { name: 'm1', role: 'challenger', missingBecause: null },
  ]);
  const [prediction] = await record.listByDay(firstDay);
  expect(prediction!.metadataDigest).toBe(`0x${createHash('sha256').update(metadata.json).digest('hex')}`);
  const published = JSON.parse(metadata.json).models as { name: string; distributions: Record<string, string> }[];
  const distributions = (await record.findDistributions([firstDay])).get(firstDay)!;
  for (const horizonDays of HORIZONS) {
    const openings = openDistributions(saltSecret, `${formatDay(firstDay)}:${horizonDays}d`, distributions[horizonDays]!);
    expect(openings.map(computeDistributionDigest)).toEqual(published.map((model) => model.distributions[`${horizonDays}d`]));
    const [champion, challenger] = openings.map(({ quantilesMicro }) => quantilesMicro.join());
    expect(champion === challenger, `${horizonDays}d`).toBe(horizonDays === 7);
  }
});

it('every resolved forecast has the scores of both versions and of the baselines', async () => {
  const scores = await readScores();
  const resolved = await service.pipeline.record.forecasts.find({ resolution: { $ne: null } }).toArray();
  expect(scores.map(({ _id }) => _id)).toEqual(resolved.map(({ _id }) => _id).toSorted());
  expect(scores.length).toBeGreaterThan(20);
  for (const { models, baselines, comparisons, horizonDays } of scores) {
    expect(Object.keys(models)).toEqual(['m0-d1', 'm1']);
    expect(Object.values(baselines).every((one) => one !== null && one.crps > 0)).toBe(true);
    expect(comparisons).toMatchObject([{ challenger: 'm1', against: 'm0-d1' }]);
    expect(Math.abs(comparisons[0]!.difference)).toBeLessThanOrEqual(1);
    if (horizonDays === 7) expect(comparisons[0]).toMatchObject({ limit: 0, difference: 0 });
  }
});

async function readSeries(horizonDays: number) {
  const { days, computePoint } = await service.http.figures.getSeries(horizonDays);
  return Array.from(days, (_, index) => computePoint(index));
}

it('the series and the challenge cover resolved days alone, and agree with each other', async () => {
  const { http } = service;
  for (const horizonDays of HORIZONS) {
    const series = await readSeries(horizonDays);
    const challenge = await http.figures.getChallenge(horizonDays);
    const revealed = await http.record.forecasts.find({ horizonDays, reveal: { $ne: null } }).toArray();
    expect(series.map(({ date }) => date)).toEqual(revealed.map(({ day }) => formatDay(day)).toSorted());
    const [last] = series.at(-1)!.evidence;
    expect(challenge.comparisons).toMatchObject([
      { eBetter: last!.eBetter, eWorse: last!.eWorse, days: series.length, verdict: 'not proven' },
    ]);
    const crps = challenge.distributions.find(({ name }) => name === 'm0-d1')!;
    const skill = series.at(-1)!.cumulative.crpsSkill.value!;
    expect(skill).toBeCloseTo(crps.skill!.value, 5);
    expect(challenge.distributions.map(({ name }) => name)).toEqual(['m0-d1', 'm1', 'climatology', 'ewma', 'garch']);
  }
});

it('a replayed stretch has the scores of its moves in figures, series and dataset, and proves nothing', async () => {
  const { http } = service;
  const docs = await readScores();
  const untouched = { days: 0, verdict: 'not proven', since: null, eBetter: 1, eWorse: 1 };
  for (const horizonDays of HORIZONS) {
    const moves = docs.filter((doc) => doc.horizonDays === horizonDays).map(({ move }) => move!);
    expect(moves.every((move) => Object.values(move.references).every((p) => p !== null && p > 0 && p < 1))).toBe(true);
    const { moveSkill } = await http.figures.getHorizon(horizonDays);
    expect(moveSkill).toMatchObject({ n: moves.length, replayed: moves.length, tests: { frequency: untouched, ewma: untouched } });
    expect(moveSkill.brier).toBeCloseTo(
      meanBy(moves, ({ pBig, big }) => scoreProbability(pBig, big)),
      12,
    );
    const last = (await readSeries(horizonDays)).at(-1)!;
    expect(last.moveEvidence).toEqual(['frequency', 'ewma'].map((against) => ({ against, eBetter: 1, eWorse: 1 })));
    for (const [name, reference] of [
      ['moveSkillFrequency', 'frequency'],
      ['moveSkillEwma', 'ewma'],
    ] as const) {
      expect(last.cumulative[name].value).toBeCloseTo(moveSkill.references[reference]!.value, 5);
    }
  }
  const csv = await readDataset(service);
  expect(csv.length).toBe(docs.length);
  for (const { predictionId, moveSize, pBig, big, pBigFrequency, pBigEwma, pBigGarch, climatology, climatology4y } of csv) {
    const { move } = docs.find(({ _id }) => _id === predictionId)!;
    const references = { frequency: Number(pBigFrequency), ewma: Number(pBigEwma), garch: Number(pBigGarch) };
    expect({ moveSize, pBig: Number(pBig), big: big === 'true', references }).toEqual(move);
    // Two shares of rises, of all training days and of the last four years.
    expect(Number(climatology4y)).toBeGreaterThan(0.3);
    expect(climatology4y).not.toBe(climatology);
  }
});

async function readDataset({ http }: TestService): Promise<Record<string, string>[]> {
  const rows: Record<string, string>[] = [];
  for await (const { forecasts } of readRowsByYear(http.record.known, http.models, http.now())) {
    for (const row of forecasts)
      rows.push(Object.fromEntries(DATASET_TABLES.forecasts.columns.map(({ name, value }) => [name, String(value(row))])));
  }
  return rows;
}

import { type Hex, sha256, stringToBytes } from 'viem';
import { expect, it } from 'vitest';
import { computeDistributionDigest, fromQuantilesMicro } from '../../../../src/chain/eas/schemas.ts';
import { scoreGrid } from '../../../../src/forecast/distribution.ts';
import type { CheckedRow } from '../../../../src/verify/checks/forecast.ts';
import { checkDistributions } from '../../../../src/verify/checks/record.ts';
import type { ServedDistributions } from '../../../../src/verify/evidence.ts';
import { createFindings } from '../../../../src/verify/findings.ts';

const DAY = 20_000;
const PREDICTION_ID = '2024-10-04:1d';
const SALT = `0x${'5a'.repeat(32)}` as const;
const NOW = new Date('2024-10-07T00:00:00Z');
const REALISED = Math.log(62_000 / 61_000);
const OPENING = {
  ...{ name: 'm0-d1', role: 'champion', modelVersion: 'm0-d1.2024-08-01', salt: SALT },
  quantilesMicro: Array.from({ length: 199 }, (_, index) => (index - 99) * 400),
};
const LACKING = { name: 'm1', role: 'challenger', modelVersion: null, missingBecause: 'it could not be fitted', distributions: null };

function buildMetadata(more: object = {}): string {
  const digest = computeDistributionDigest({ predictionId: PREDICTION_ID, ...OPENING });
  const champion = { name: 'm0-d1', role: 'champion', modelVersion: OPENING.modelVersion, distributions: { '1d': digest } };
  return JSON.stringify({ date: '2024-10-04', models: [champion, LACKING], ...more });
}

/** A resolved forecast whose challenger has no distribution. */
function buildCase(metadata: string): { row: CheckedRow; served: ServedDistributions } {
  const [uid, resolutionUid]: Hex[] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`];
  const data = { day: DAY, horizonDays: 1, sequence: 7, metadata: sha256(stringToBytes(metadata)) };
  const values = { btcPriceCents: 6_100_000, btcAtResolutionCents: 6_200_000 };
  const at = new Date('2024-10-06T00:05:00Z');
  const row = { prediction: { uid, data }, resolution: { uid: resolutionUid, at, data: values }, opened: true, status: 'WIN' };
  const scores = [
    { name: 'm0-d1', modelVersion: OPENING.modelVersion, ...scoreGrid(fromQuantilesMicro(OPENING.quantilesMicro), REALISED) },
  ];
  const named = {
    predictionId: PREDICTION_ID,
    date: '2024-10-04',
    horizon: '1d',
    sequence: 7,
    attestationUid: uid!,
    resolutionUid: resolutionUid!,
  };
  const missing = [{ name: 'm1', role: 'challenger', reason: 'it could not be fitted' }];
  const served = { ...named, metadata, openings: [OPENING], missing, realised: REALISED, scores, comparisons: [] };
  return { row: row as unknown as CheckedRow, served };
}

function check(row: CheckedRow, served: ServedDistributions | null, now = NOW) {
  const findings = createFindings();
  const result = checkDistributions(row, served, { now, findings });
  return { result, failed: findings.list.filter(({ outcome }) => outcome === 'fail').map(({ field }) => field) };
}

it('a challenger without a distribution counts for no comparison', () => {
  const { row, served } = buildCase(buildMetadata());
  expect(check(row, served)).toEqual({ result: { day: DAY, horizonDays: 1, comparisons: [], move: null }, failed: [] });
});

it('fails when the reason of a missing challenger is another, or it is not named', () => {
  const { row, served } = buildCase(buildMetadata());
  expect(check(row, { ...served, missing: [{ ...served.missing[0]!, reason: 'another' }] }).failed).toEqual(['versions.missing']);
  expect(check(row, { ...served, missing: [] }).failed).toEqual(['versions.missing']);
});

it('fails when a version is opened that was not committed', () => {
  const { row, served } = buildCase(buildMetadata());
  const openings = [OPENING, { ...OPENING, name: 'm1', role: 'challenger' }];
  expect(check(row, { ...served, openings }).failed).toEqual(['versions.openings']);
});

it('returns none for a day whose attested metadata names no models', () => {
  const { row, served } = buildCase(buildMetadata({ models: undefined }));
  expect(check(row, { ...served, openings: [], missing: [], scores: [] })).toEqual({ result: 'none', failed: [] });
});

it('fails when the attested metadata lists its models unreadably', () => {
  for (const models of [[], {}, [null], [LACKING, LACKING]]) {
    const { row, served } = buildCase(buildMetadata({ models }));
    expect(check(row, served).failed, JSON.stringify(models)).toEqual(['models']);
  }
});

it('fails when nothing is served of a forecast whose outcome is not new', () => {
  const { row } = buildCase(buildMetadata());
  expect(check(row, null).failed).toEqual(['openings']);
  expect(check(row, null, new Date('2024-10-06T00:09:00Z')).failed).toEqual([]);
});

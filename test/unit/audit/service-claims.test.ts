import { type Hex, sha256, stringToBytes } from 'viem';
import { expect, it } from 'vitest';
import { checkServedDistributions, createForecastClaims } from '../../../src/audit/service-claims.ts';
import { OracleError } from '../../../src/errors.ts';
import type { CheckedRow } from '../../../src/verify/checks/forecast.ts';
import { createFindings } from '../../../src/verify/findings.ts';

const NOW = new Date('2024-10-07T00:00:00Z');
const MODELS = [{ name: 'm0-d1', role: 'champion', modelVersion: 'm0-d1.2024-08-01', distributions: {} }];

const RESOLVED = { resolution: { uid: `0x${'11'.repeat(32)}`, at: new Date('2024-10-06T00:05:00Z') }, status: 'WIN' };
const PENDING = { resolution: null, status: 'PENDING' };

/** The audit of one forecast against a service without the operation. @param served metadata; undefined: 404 */
async function auditWithout(attested: object, served: object | undefined, state: object = RESOLVED, shown: object = {}) {
  const uid: Hex = `0x${'11'.repeat(32)}`;
  const data = { day: 20_000, horizonDays: 1, sequence: 7, metadata: sha256(stringToBytes(JSON.stringify(attested))) };
  const row = { prediction: { uid, data }, ...state };
  const distributions = createForecastClaims('https://oracle.example', async (path) => {
    if (path.startsWith('ipfs/') && served !== undefined) return served;
    throw new OracleError('NOT_FOUND', 'it answers 404');
  });
  const findings = createFindings();
  await checkServedDistributions([row as unknown as CheckedRow], {
    distributions,
    shown: new Map([[uid, shown]]),
    moveSkills: new Map(),
    prices: null,
    history: null,
    now: NOW,
    findings,
    onProgress: () => {},
  });
  return { outcomes: findings.list.map(({ check, outcome }) => `${check} ${outcome}`), notes: findings.notes };
}

it('notes an older service, whose metadata names no distributions', async () => {
  const { outcomes, notes } = await auditWithout({ date: '2024-10-04' }, { date: '2024-10-04' });
  expect(outcomes).toEqual([]);
  expect(notes).toEqual([expect.stringContaining('older version')]);
});

it('fails when the attested metadata names distributions', async () => {
  const metadata = { date: '2024-10-04', models: MODELS };
  expect((await auditWithout(metadata, metadata)).outcomes).toEqual(['distributions fail']);
});

it('leaves the check open, as due, when the metadata is not served or is not the attested one', async () => {
  const metadata = { date: '2024-10-04', models: MODELS };
  expect((await auditWithout(metadata, undefined)).outcomes).toEqual(['distributions unknown']);
  expect((await auditWithout(metadata, { date: '2024-10-04' })).outcomes).toEqual(['distributions unknown']);
});

it('compares the size of a pending move with the metadata of its day, and says where that is not served', async () => {
  const metadata = { date: '2024-10-04', moves: {} };
  const shown = { moveSize: 'WILD', pBig: null };
  expect((await auditWithout(metadata, metadata, PENDING)).outcomes).toEqual(['move pass']);
  expect((await auditWithout(metadata, metadata, PENDING, shown)).outcomes).toEqual(['move fail']);
  expect((await auditWithout(metadata, undefined, PENDING, shown)).outcomes).toEqual(['move unknown']);
});

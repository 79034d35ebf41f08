import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../src/audit/audit.ts';
import { PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { claimsOf, openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { openRevealedDistributions } from '../../../src/record/distributions.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import type { ForecastDistributions } from '../../../src/record/schemas/forecast.ts';
import { readForecastEvidence } from '../../../src/record/verification.ts';
import { createFindings } from '../../../src/verify/findings.ts';
import { listForecastChecks } from '../../../src/verify/summary.ts';
import { checkForecastEvidence } from '../../../src/verify/verify.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { cli } from '../../support/service/cli.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';
import {
  type DishonestService,
  FIRST_OF_CHECK,
  HONEST,
  PLANTED_DISTRIBUTIONS,
  type PlantedDistribution,
  startDishonestService,
} from '../../support/verify/planted-distributions.ts';

const DAYS = 10;
const firstDay = today() - DAYS;
const TARGET = `${formatDay(firstDay + 2)}:1d`;

let service: TestService;
let served: Served;
let dishonest: DishonestService;
let doc: ForecastDoc;
let other: ForecastDistributions;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = firstDay; day < today(); day++) await runPastDay(service, day);
  service.progress.complete();
  served = await serve(service);
  const [sibling] = await service.pipeline.record.listByIds([TARGET.replace('1d', '2d')]);
  [doc] = (await service.pipeline.record.listByIds([TARGET])) as [ForecastDoc];
  [other] = (await openRevealedDistributions(service.http, [sibling!])) as [ForecastDistributions];
  dishonest = await startDishonestService(service, served.url, { predictionId: TARGET, other });
});
afterAll(async () => {
  await dishonest?.close();
  await served?.close();
  await service?.stop();
});

/** Every way to verify distributions, reduced to the ids of the checks that fail. */
const VERIFIERS = {
  async audit() {
    const { rpcUrl, contracts } = service.infrastructure;
    const chain = await openAuditChain({ rpcUrl, eas: contracts.eas, schemaRegistry: contracts.schemaRegistry });
    const where = { chain, attester: service.http.wallets.attester.address, prices: null, claims: claimsOf(dishonest.url) };
    return (await audit({ ...where, now: new Date() })).differences.map(({ check }) => check);
  },
  'svc verify': () => runSvc(TARGET),
  'svc verify all': () => runSvc('all'),
  async 'REST and skill'({ change, row: changeRow }: PlantedDistribution) {
    const { evidence, distributions } = await readForecastEvidence(service.http, doc, PUBLIC_CALLER);
    const planted = change === undefined ? distributions : change(distributions!, other);
    const findings = createFindings();
    changeRow?.(evidence.recorded!.move);
    const context = { attester: service.http.wallets.attester.address, now: new Date() };
    const row = checkForecastEvidence({ ...evidence, distributions: planted }, context, findings);
    return listForecastChecks(findings.list, row).checks.flatMap(({ check, ok }) => (ok ? [] : [check]));
  },
};

async function runSvc(id: string): Promise<string[]> {
  const { rpcUrl, contracts } = service.infrastructure;
  const where = ['--rpc', rpcUrl, '--eas', contracts.eas, '--attester', service.http.wallets.attester.address, '--url', dishonest.url];
  const { out, err } = await cli(['verify', id, ...where, '--json'], { environment: { XDG_CONFIG_HOME: service.dataDir } });
  if (out === '') throw new Error(err);
  return (JSON.parse(out) as { differences: { check: string }[] }).differences.map(({ check }) => check);
}

type Verifier = keyof typeof VERIFIERS;
const ALL = Object.keys(VERIFIERS) as Verifier[];
/** Ways that read the whole record. */
const WHOLE: Verifier[] = ['audit', 'svc verify all'];

/** `svc verify all` runs the audit: one change of each check shows that it asks the service too. */
function waysToFind(planted: PlantedDistribution): Verifier[] {
  if (planted.claim !== undefined) return WHOLE;
  // It compares no rows.
  return FIRST_OF_CHECK.has(planted) && planted.row === undefined ? ALL : ALL.filter((by) => by !== 'svc verify all');
}

it.each(ALL)('honest distributions pass by %s', async (by) => {
  dishonest.planted = HONEST;
  expect(await VERIFIERS[by](HONEST)).toEqual([]);
});

it('the audit makes every check of distributions, and reports the evidence of each horizon', async () => {
  dishonest.planted = HONEST;
  const { rpcUrl, contracts } = service.infrastructure;
  const chain = await openAuditChain({ rpcUrl, eas: contracts.eas, schemaRegistry: contracts.schemaRegistry });
  const where = { chain, attester: service.http.wallets.attester.address, prices: null, claims: claimsOf(dishonest.url) };
  const report = await audit({ ...where, now: new Date() });
  const made = new Map(report.checks.map(({ check, passed }) => [check, passed]));
  const resolved = await service.pipeline.record.forecasts.countDocuments({ reveal: { $ne: null } });
  expect(made.get('scores')).toBe(resolved);
  // Of each row, and of the opened quantiles of each resolved one.
  expect(made.get('move')).toBe(resolved + (await service.pipeline.record.forecasts.countDocuments({ attestation: { $ne: null } })));
  expect(made.get('distributions')).toBeGreaterThanOrEqual(4 * resolved);
  expect(made.get('evidence')).toBe(4);
  expect(report.challenges.map(({ horizonDays, days }) => [horizonDays, days])).toEqual([1, 2, 3, 7].map((days) => [days, DAYS - days]));
  expect(report.challenges).toMatchObject(Array(4).fill({ challenger: 'm1', against: 'm0-d1', verdict: 'not proven', since: null }));
});

describe.each(PLANTED_DISTRIBUTIONS)('$what fails $check', (planted) => {
  it.each(waysToFind(planted))('by %s', async (by) => {
    dishonest.planted = planted;
    expect(await VERIFIERS[by](planted)).toContain(planted.check);
  });
});

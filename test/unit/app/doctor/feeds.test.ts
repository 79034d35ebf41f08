import { expect, it } from 'vitest';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import type { DoctorDeps, DoctorTarget } from '../../../../src/ops/checks.ts';
import { feedsCheck } from '../../../../src/ops/doctor.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { answersOf, startProviderHost } from '../../../support/market/provider-host.ts';
import { derivativesAnswers } from '../../../support/provider-data/derivatives.ts';
import { venuesAnswers } from '../../../support/provider-data/venues.ts';

it('names the provider of rows that were left out, and why', async () => {
  const whole = answersOf(openSimulatedFeed({ seed: 2 }), [derivativesAnswers, venuesAnswers]);
  const host = await startProviderHost(async (request) => {
    const answer = await whole(request);
    const { result } = (answer?.body ?? {}) as { result?: { data?: unknown[][] } };
    if (request.path.endsWith('get_volatility_index_data')) result!.data![3][4] = null;
    return answer;
  });
  const config = { FEEDS: 'live', PROVIDER_URLS: host.providerUrls, chainMode: 'real' };
  const log = createLog({ level: 'silent', secrets: [] });
  const deps = { config, log, now: () => new Date() } as unknown as DoctorDeps;
  const findings = await feedsCheck.run(deps, {} as DoctorTarget);
  await host.close();
  const leftOut = findings.filter(({ detail }) => detail.includes('left out'));
  const detail = 'Deribit: 1 rows left out, the last because Deribit: result.data.3.4 Invalid input: expected number, received null';
  expect(leftOut).toMatchObject([{ level: 'warn', detail }]);
  expect(findings.filter(({ level }) => level === 'fail')).toEqual([]);
}, 60_000);

import { afterEach, describe, expect, it } from 'vitest';
import { openSimulatedFeed } from '../../../src/market/simulated.ts';
import type { DoctorDeps, DoctorTarget } from '../../../src/ops/checks.ts';
import { facilitatorCheck, feedsCheck } from '../../../src/ops/doctor.ts';
import { createLog } from '../../../src/platform/log.ts';
import { type CdpServer, createEd25519Key, startCdpServer } from '../../support/commerce/cdp-server.ts';
import { answersOf, startProviderHost } from '../../support/market/provider-host.ts';
import { derivativesAnswers } from '../../support/provider-data/derivatives.ts';
import { venuesAnswers } from '../../support/provider-data/venues.ts';

describe('facilitator', () => {
  const now = () => new Date('2026-11-27T12:00:00Z');

  let server: CdpServer | undefined;
  afterEach(() => server?.close());

  const check = ({ id, secret } = createEd25519Key()) => {
    const config = { X402_FACILITATOR_URL: server!.url, CDP_API_KEY_ID: id, CDP_API_KEY_SECRET: secret, CHAIN_ID: 8453 };
    return facilitatorCheck.run({ config, now } as unknown as DoctorDeps, undefined as never);
  };

  describe('the check of a hosted facilitator', () => {
    it('passes with a key that it accepts, on a chain that it settles on', async () => {
      const key = createEd25519Key();
      server = await startCdpServer(key, now);
      server.answers['/platform/v2/x402/supported'] = { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }] };
      expect(await check(key)).toEqual([
        expect.objectContaining({ detail: `${server.url} settles "exact" on eip155:8453, and accepts the API key` }),
      ]);
    });

    it('fails with a key that it refuses, naming the settings and not the secret', async () => {
      const [key, other] = [createEd25519Key(), createEd25519Key()];
      server = await startCdpServer(key, now);
      const error = await check(other).catch((reason: Error) => reason);
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', field: 'CDP_API_KEY_ID', message: expect.stringContaining('refuses the key') });
      expect(JSON.stringify(error) + (error as Error).stack).not.toContain(other.secret);
    });
  });
});

describe('feeds', () => {
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
    const detail = expect.stringMatching(
      /^Deribit: 1 rows left out, the last because result\.data\.3\.4 Invalid input: expected number, received null; /,
    );
    expect(leftOut).toMatchObject([{ level: 'warn', detail }]);
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([]);
  }, 60_000);
});

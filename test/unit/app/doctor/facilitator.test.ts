import { afterEach, describe, expect, it } from 'vitest';
import type { DoctorDeps } from '../../../../src/ops/checks.ts';
import { facilitatorCheck } from '../../../../src/ops/doctor.ts';
import { type CdpServer, createEd25519Key, startCdpServer } from '../../../support/commerce/cdp-server.ts';

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

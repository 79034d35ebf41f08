import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { setGate } from '../../../../src/auth/tiers.ts';
import { runDoctorCommand } from '../../../../src/cli/doctor.ts';
import { signedLogin } from '../../../support/auth/login.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../support/service/service.ts';

const [listed, basic, stranger] = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey())) as [Account, Account, Account];
type Account = ReturnType<typeof privateKeyToAccount>;
const GATE_WALLETS = `premium:${listed.address},basic:${basic.address}`;
const PLACE = "a place on the operator's list for the basic tier";

let service: TestService;
let served: Served;
beforeAll(async () => {
  service = await unresolvedService(1, { GATE_WALLETS });
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
  setGate('token');
});

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
  const response = await fetch(`${served.url}${path}`, init);
  return { status: response.status, body: await response.json() };
}
const logIn = async (account: Account) => {
  const body = JSON.stringify(await signedLogin(account, Math.floor(Date.now() / 1_000)));
  return ask('/api/svc/oracle/verify', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
};

it('gives a listed wallet its tier, and no more', async () => {
  const { body: session } = await logIn(listed);
  expect(session).toMatchObject({ tier: 'premium', balance: '0', requirement: PLACE.replace('basic', 'premium') });
  const headers = { Authorization: `Bearer ${session.token}` };
  const { body: premium } = await ask('/api/svc/oracle/premium', { headers });
  expect(premium).toMatchObject({ direction: expect.stringMatching(/^(UP|DOWN)$/), access: { tier: 'premium', wallet: listed.address } });
  expect((await ask('/api/svc/open/signal')).body).toMatchObject({ signal: 'GATED', confidence: null });

  const { body: lower } = await logIn(basic);
  const asBasic = { headers: { Authorization: `Bearer ${lower.token}` } };
  expect((await ask('/api/svc/oracle', asBasic)).body).toMatchObject({ access: { tier: 'basic', requirement: PLACE } });
  const refused = await ask('/api/svc/copy-trade/next', asBasic);
  expect(refused).toMatchObject({ status: 403, body: { code: 'TIER_REQUIRED', requiredTier: 'premium', requiredBalance: null } });
});

it('refuses any other wallet, which can pay', async () => {
  const { status, body } = await logIn(stranger);
  expect({ status, ...body }).toMatchObject({
    status: 403,
    requirement: PLACE,
    requiredBalance: null,
    suggestedAction: expect.stringContaining(PLACE),
  });
  expect((await ask('/oracle')).status).toBe(402);
});

it('says what grants the tiers wherever the token is named else', async () => {
  expect((await ask(`/api/svc/verify/${listed.address}`)).body).toMatchObject({
    ...{ tier: 'premium', gateToken: null },
    requirements: { basic: { balance: null, met: true }, premium: { balance: null, met: true } },
  });
  const { body: info } = await ask('/api/svc/info');
  expect(info.tiers[1]).toMatchObject({ requirement: PLACE, gateTokens: null });
  expect(info).toMatchObject({ contracts: { gateToken: null }, limits: { gateBalance: { basic: null, premium: null } } });
  expect((await ask('/api/claw/ecosystem')).body.contracts.gateToken).toBeNull();
  expect((await ask('/api/status')).body.chain.contracts.gateToken).toBeNull();
  expect(await (await fetch(`${served.url}/SKILL.md`)).text()).toContain(PLACE);

  let report = '';
  const { mongodbUri: MONGODB_URI } = service.infrastructure;
  const environment = { DATA_DIR: service.dataDir, MONGODB_URI, FEEDS: 'simulated', PUBLIC_URL: served.url, GATE_WALLETS };
  await runDoctorCommand([], environment, { write: (part: string) => (report += part) } as never);
  expect(report).toContain('no gate token: GATE_WALLETS lists 2 wallets with a tier, all others pay per call');
});

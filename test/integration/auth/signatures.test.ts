import { type Hex, parseSignature, serializeCompactSignature, signatureToCompactSignature, zeroAddress } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatLoginMessage } from '../../../src/auth/login-message.ts';
import { buildFetchMessage } from '../../../src/http/routes/jobs.ts';
import { demoWallets } from '../../support/auth/login.ts';
import { OAuthTestClient } from '../../support/auth/oauth-client.ts';
import { type OAuthService, serveOAuthService } from '../../support/auth/oauth-service.ts';
import { readHeader } from '../../support/commerce/payments.ts';
import { signPayment } from '../../support/commerce/x402.ts';

/** What a wallet has signed: the text, where it is one, with what the request repeats of it. */
interface Signed {
  signature: string;
  message: string;
  timestamp: number;
}

interface Endpoint {
  sign(account: PrivateKeyAccount): Promise<Signed>;
  /** A request in the form of the endpoint, with any signature. */
  send(signed: Signed): Promise<{ status: number; code: string | undefined }>;
  /** Of a request whose signature is accepted, where nothing else is wrong with it. */
  accepted: number;
}

const MARKET = '2020-W01-10000';
const TX_HASH = `0x${'7'.repeat(64)}`;

let oauth: OAuthService;
let client: OAuthTestClient;
let consent: URL;
let terms: Parameters<typeof signPayment>[0]['requirements'];
let wallet: PrivateKeyAccount;
let timestamp: number;

beforeAll(async () => {
  oauth = await serveOAuthService(8);
  oauth.service.progress.complete();
  wallet = demoWallets(oauth.service).premium;
  terms = readHeader((await fetch(`${oauth.url}/oracle`)).headers.get('PAYMENT-REQUIRED')).accepts[0];
});
afterAll(() => oauth?.close());

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
const read = async (path: string): Promise<any> => (await fetch(`${oauth.url}${path}`)).json();

async function post(path: string, json: unknown) {
  const response = await fetch(`${oauth.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(json),
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  const body = (await response.json()) as any;
  return { status: response.status, code: body.code as string | undefined, body };
}

const signText = async (account: PrivateKeyAccount, message: string): Promise<Signed> => ({
  message,
  signature: await account.signMessage({ message }),
  timestamp,
});

const composed = async (account: PrivateKeyAccount, path: string, act: object) =>
  signText(account, (await post(path, { wallet: account.address, ...act })).body.message);

const ENDPOINTS: Record<string, Endpoint> = {
  'a login': {
    sign: (account) => signText(account, formatLoginMessage(account.address, timestamp)),
    send: ({ signature }) => post('/api/svc/oracle/verify', { wallet: wallet.address, signature, timestamp }),
    accepted: 200,
  },
  'a login by EIP-4361': {
    async sign(account) {
      const { nonce, domain, uri, version, chainId } = await read('/api/svc/oracle/nonce');
      return signText(account, createSiweMessage({ address: account.address, issuedAt: new Date(), nonce, domain, uri, version, chainId }));
    },
    send: ({ message, signature }) => post('/api/svc/oracle/siwe', { message, signature }),
    accepted: 200,
  },
  'an API key': {
    sign: (account) => composed(account, '/api/svc/oracle/keys/message', { label: 'a bot', tier: 'premium' }),
    send: ({ message, signature }) => post('/api/svc/oracle/keys', { message, signature }),
    accepted: 201,
  },
  'the list of access': {
    sign: (account) => composed(account, '/api/svc/oracle/access/message', {}),
    send: ({ message, signature }) => post('/api/svc/oracle/access', { message, signature }),
    accepted: 200,
  },
  'the consent to an application': {
    sign: async (account) => ({ ...(await client.sign(consent, account)).json, timestamp }),
    async send({ message, signature }) {
      const { status, body } = await client.send('POST', consent.pathname, { json: { decision: 'allow', message, signature } });
      return { status, code: body.code };
    },
    accepted: 200,
  },
  'an answer again': {
    sign: (account) => signText(account, `Fetch svc answer: ${TX_HASH}:${timestamp}`),
    send: ({ signature }) => post('/api/svc/commerce/answers', { txHash: TX_HASH, wallet: wallet.address, timestamp, signature }),
    // Nothing was paid in that transaction.
    accepted: 404,
  },
  'a purchase': {
    sign: (account) => signText(account, `Buy svc offering: svc_analysis_report:${TX_HASH}`),
    send: ({ signature }) =>
      post('/api/svc/commerce/purchase', { offering: 'svc_analysis_report', txHash: TX_HASH, wallet: wallet.address, signature }),
    // The chain has no such transaction; a wrong signature gets 401.
    accepted: 402,
  },
  'the deliverable of a job': {
    sign: (account) => signText(account, buildFetchMessage(zeroAddress, '1', timestamp)),
    send: ({ signature }) => post('/api/svc/commerce/jobs/1/deliverable', { wallet: wallet.address, timestamp, signature }),
    // No job has begun; its own suite has the accepted ones.
    accepted: 404,
  },
  'a commitment of the contest': {
    async sign(account) {
      const { signing } = await read('/api/svc/clawstake/status');
      const message = { market: MARKET, wallet: account.address, probabilityBps: 5_000, issuedAtMs: BigInt(timestamp) };
      const signature = await account.signTypedData({ ...signing, message } as never);
      return { signature, message: '', timestamp };
    },
    send: ({ signature }) =>
      post('/api/svc/prestake/commit', { market: MARKET, wallet: wallet.address, probabilityBps: 5_000, issuedAtMs: timestamp, signature }),
    // No round has begun; its own suite has the accepted ones.
    accepted: 404,
  },
  'a payment': {
    async sign(account) {
      const { payload } = await signPayment({ account, requirements: terms });
      return { signature: payload.signature, message: '', timestamp };
    },
    async send({ signature }) {
      const payment = await signPayment({
        account: demoWallets(oauth.service).buyer,
        requirements: terms,
        change: { from: wallet.address },
      });
      payment.payload.signature = signature as `0x${string}`;
      const header = Buffer.from(JSON.stringify(payment)).toString('base64');
      const response = await fetch(`${oauth.url}/oracle`, { headers: { 'PAYMENT-SIGNATURE': header } });
      return { status: response.status, code: ((await response.json()) as { code?: string }).code };
    },
    // The authorization of the request has another nonce than the signed one.
    accepted: 402,
  },
};

/** Look for a round or a job before they look at the signature. */
const WITHOUT_SUBJECT = ['a commitment of the contest', 'the deliverable of a job'];

describe.each(Object.keys(ENDPOINTS))('the signature for %s', (name) => {
  it('is accepted there, and nowhere else', async () => {
    timestamp = Date.now();
    client = new OAuthTestClient(oauth.url);
    await client.register();
    consent = (await client.authorize()).location!;
    const { sign, send, accepted } = ENDPOINTS[name]!;
    const signed = await sign(wallet);
    for (const [other, endpoint] of Object.entries(ENDPOINTS)) {
      if (other === name) continue;
      const { status } = await endpoint.send(signed);
      const refused = WITHOUT_SUBJECT.includes(other) ? [400, 401, 404] : [400, 401, 402];
      expect(refused, `${other} answers ${status}`).toContain(status);
    }
    expect((await send(signed)).status).toBe(accepted);
  });

  it('is accepted in the compact form (EIP-2098)', async () => {
    timestamp = Date.now();
    client = new OAuthTestClient(oauth.url);
    await client.register();
    consent = (await client.authorize()).location!;
    const { sign, send, accepted } = ENDPOINTS[name]!;
    const signed = await sign(wallet);
    const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signed.signature as Hex)));
    expect((await send({ ...signed, signature: compact })).status).toBe(accepted);
  });
});

it('of an old login, or with a nonce that was never issued, makes no key and no grant', async () => {
  timestamp = Date.now();
  const countKeys = () => oauth.service.database.db.collection('api_keys').countDocuments();
  const before = await countKeys();
  const login = await ENDPOINTS['a login']!.sign(wallet);
  expect((await ENDPOINTS['a login']!.send(login)).status).toBe(200);
  const { domain, origin: uri } = oauth.service.http.access.siwe;
  const invented = createSiweMessage({
    ...{ domain, uri: `${uri}/api/svc/oracle/keys`, version: '1', chainId: oauth.service.http.chain.chainId, issuedAt: new Date() },
    ...{ address: wallet.address, nonce: '0123456789abcdef0123456789abcdef', statement: 'Make an API key.' },
  });
  for (const signed of [login, await signText(wallet, invented)]) {
    for (const name of ['an API key', 'the list of access', 'the consent to an application']) {
      expect([400, 401], name).toContain((await ENDPOINTS[name]!.send(signed)).status);
    }
  }
  expect((await ENDPOINTS['a login by EIP-4361']!.send(await signText(wallet, invented))).status).toBe(401);
  expect(await countKeys()).toBe(before);
});

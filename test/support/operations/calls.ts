import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { encodeFunctionData, type Hash, parseAbi, type TypedDataDomain } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { sendTransactionsForHashes } from '../../../src/dev/local-chain/contracts.ts';
import { formatDay, toDay } from '../../../src/forecast/day.ts';
import { getPageBundle } from '../../../src/http/routes/home.ts';
import { buildAnswerMessage } from '../../../src/http/routes/paid.ts';
import type { ExampleCall, ExampleCalls, ExampleClient, TokenHolder } from './client.ts';
import { buildFetchBody, ensureDeliveredJob } from './job.ts';
import { WEBHOOK_CALLS } from './webhook-calls.ts';

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

const DAYS_BACK = 150;

export const EXAMPLE_CALLS: ExampleCalls = {
  verifyAttestation: async (client) => ({ params: { uid: (await findResolution(client)).uid } }),
  getMetadata: async (client) => ({ params: { cid: (await findResolution(client)).cid } }),
  getDatasetCsv: () => ({ params: { table: 'forecasts' } }),
  getDatasetParquet: () => ({ params: { table: 'forecasts' } }),
  listDistributions: () => ({ query: { limit: '1' } }),
  getScoreSeries: () => ({ query: { limit: '1' } }),
  getScoreSeriesCsv: () => ({ query: { limit: '2' } }),
  getWagerEvidence: async (client) => ({ params: { date: await findDateWithAnswer(client, '/api/svc/agent/feedback') } }),
  getPaymentFeedbackFile: async (client) => await ratePayment(client),
  getPaymentFeedbackCall: async (client) => await ratePayment(client),
  getReferencePageFile: () => ({ params: { file: 'reference.css' } }),
  getDocument: () => ({ params: { file: 'audit.md' } }),
  getPageFile: () => ({ params: { file: getPageBundle().files.keys().next().value! } }),
  getForecastPage: async (client) => ({ params: await findForecastPath(client) }),
  getForecastListCsv: () => ({ query: { horizon: '7', state: 'right' } }),
  readLocalChain: () => ({ body: { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] } }),
  getWalletTier: ({ wallets }) => ({ params: { wallet: wallets.premium.address } }),
  logInWithWallet: async (client) => ({ body: await client.buildLoginBody('premium') }),
  logInWithSiwe: async (client) => ({ body: await buildSiweBody(client) }),
  logInDemoWallet: () => ({ body: { role: 'premium' } }),
  signAsDemoWallet: async ({ requestJson, wallets }) => {
    const wanted = { method: 'POST', body: { wallet: wallets.premium.address } };
    return { body: { role: 'premium', message: (await requestJson('/api/svc/oracle/access/message', wanted)).message } };
  },
  signDemoPayment: () => ({ body: { offering: 'x402_signal', horizon: '7d' } }),
  logOut: () => ({ needsToken: true, endsSession: true }),
  composeApiKeyText: ({ wallets }) => ({ body: { wallet: wallets.premium.address, ...API_KEY } }),
  createApiKey: async (client) => ({ body: await signKeyText(client, 'premium') }),
  composeAccessText: ({ wallets }) => ({ body: { wallet: wallets.premium.address } }),
  manageAccess: async (client) => ({ body: await signComposed(client, 'premium', '/api/svc/oracle/access/message', {}) }),
  listAccess: async (client, holder) => {
    await createKey(client, holder);
    return { needsToken: true };
  },
  revokeAccess: async (client, holder) => ({ needsToken: true, params: { id: await createKey(client, holder) } }),
  ...WEBHOOK_CALLS,
  buySignal: async (client) => await buildPaidCall(client, '/oracle', '7d'),
  buyPremiumSignal: async (client) => await buildPaidCall(client, '/oracle/premium', '7d'),
  buyOffering: async (client) => ({ body: await payPurchase(client, 'svc_daily_macro_review') }),
  getAnswerAgain: async (client) => ({ body: await buyAnswer(client) }),
  getJob: async (client) => ({ params: { jobId: await ensureDeliveredJob(client) } }),
  fetchJobDeliverable: async (client) => ({ params: { jobId: await ensureDeliveredJob(client) }, body: await buildFetchBody(client) }),
  sendA2aRequest: () => ({ headers: { 'A2A-Version': '1.0' }, body: A2A_CALL }),
  runPredictBtcDirection: () => ({ body: { horizon: '7d' } }),
  runVerifyPrediction: async (client) => ({ body: { uid: (await findResolution(client)).uid } }),
  runGetTrackRecord: () => ({ body: { horizon: '7d', pageSize: 3 } }),
  runGetMarketContext: () => ({ body: { include: ['price', 'sentiment', 'flows', 'macro', 'regime'] } }),
  sendAgentTask: () => ({
    body: { skill: 'get_market_context', input: { include: ['price', 'sentiment'] }, metadata: { agent: 'example' } },
  }),
  getAgentTask: async (client, holder) => ({ params: { id: await createTask(client, holder) } }),
  getNextTradeIntent: async (client) => await findHorizonWithIntent(client),
  commitToContestMarket: async (client) => ({ body: await signCommitment(client) }),
  runStep: () => ({ params: { step: 'resolve' }, body: {} }),
  pauseWagers: () => ({ body: { reason: 'the venue is being looked at' } }),
  rotateTokenKeys: () => ({ body: { revoke: false } }),
  revokeWallet: ({ wallets }) => ({ params: { wallet: wallets.poor.address } }),
  getWeeklyReport: async (client) => ({ params: { weekId: (await client.requestJson('/api/claw/latest')).weekId } }),
};

const A2A_CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: {
    message: { messageId: 'a-first-message', role: 'ROLE_USER', parts: [{ text: 'How good were your 7-day bitcoin forecasts?' }] },
  },
};

const API_KEY = { label: 'trading bot', tier: 'basic', expiresInDays: 90 };

async function createKey(client: ExampleClient, holder: TokenHolder): Promise<string> {
  return (await client.requestJson('/api/svc/oracle/keys', { method: 'POST', body: await signKeyText(client, holder) })).id;
}

const signKeyText = (client: ExampleClient, holder: TokenHolder) => signComposed(client, holder, '/api/svc/oracle/keys/message', API_KEY);

/** The text that the service composes for an act, with its signature. */
async function signComposed({ requestJson, wallets }: ExampleClient, holder: TokenHolder, path: string, act: object): Promise<object> {
  const { message } = await requestJson(path, { method: 'POST', body: { wallet: wallets[holder].address, ...act } });
  return { message, signature: await wallets[holder].signMessage({ message }) };
}

async function createTask({ requestJson, logIn }: ExampleClient, holder: TokenHolder): Promise<string> {
  const body = { skill: 'get_market_context', input: { include: ['price'] } };
  return (await requestJson('/api/svc/a2a/tasks/send', { method: 'POST', token: await logIn(holder), body })).result.id;
}

/** The first horizon with an intent; a horizon may abstain. */
async function findHorizonWithIntent({ requestJson, logIn }: ExampleClient): Promise<ExampleCall> {
  const token = await logIn('premium');
  for (const horizon of ['7d', '3d', '2d']) {
    if ((await requestJson(`/api/svc/copy-trade/next?horizon=${horizon}`, { token })) !== null) return { query: { horizon } };
  }
  return {};
}

async function buildPaidCall(client: ExampleClient, path: string, horizon: string): Promise<ExampleCall> {
  return { query: { horizon }, headers: await buildPayment(client, `${path}?horizon=${horizon}`) };
}

async function ratePayment(client: ExampleClient): Promise<ExampleCall> {
  return { params: { txHash: await buyPremium(client), payer: client.wallets.buyer.address }, query: { value: '50' } };
}

/** Transaction of the payment. */
async function buyPremium(client: ExampleClient): Promise<Hash> {
  const path = '/oracle/premium?horizon=7d';
  return (await client.requestJson(path, { headers: await buildPayment(client, path) })).payment.txHash;
}

async function buyAnswer(client: ExampleClient): Promise<object> {
  const txHash = await buyPremium(client);
  const { buyer } = client.wallets;
  const timestamp = client.nowMs();
  const signature = await buyer.signMessage({ message: buildAnswerMessage(txHash, timestamp) });
  return { txHash, wallet: buyer.address, timestamp, signature };
}

/** A resolution, whose values are public. */
async function findResolution(client: ExampleClient): Promise<{ uid: string; cid: string }> {
  const { data } = await client.requestJson('/api/svc/onchain-oracle/history?horizons=all&limit=100');
  const found = data.find(({ type }: { type: string }) => type === 'resolution') ?? data[0];
  if (found === undefined) throw new Error('nothing is attested');
  return found;
}

/** The newest revealed forecast of 7 days, else the newest. */
async function findForecastPath(client: ExampleClient): Promise<{ date: string; horizon: string }> {
  const { predictions } = await client.requestJson('/api/svc/scorecard?horizon=7&limit=30');
  const { date, horizon } = predictions.find(({ resolved }: { resolved: boolean }) => resolved) ?? predictions[0];
  return { date, horizon };
}

async function findDateWithAnswer(client: ExampleClient, path: string): Promise<string> {
  const { timestamp } = await client.requestJson('/api/svc/clawstake/status');
  const today = toDay(Date.parse(timestamp));
  for (let day = today; day > today - DAYS_BACK; day--) {
    if ((await client.request(`${path}/${formatDay(day)}`)).ok) return formatDay(day);
  }
  throw new Error(`nothing is served under ${path} for any of the last ${DAYS_BACK} days`);
}

async function buildSiweBody({ requestJson, wallets }: ExampleClient): Promise<object> {
  const { domain, uri, version, chainId, nonce, expiresAt } = await requestJson('/api/svc/oracle/nonce');
  const { address } = wallets.basic;
  const issuedAt = new Date(Date.parse(expiresAt) - 5 * 60_000);
  const message = createSiweMessage({ domain, uri, version, chainId, nonce, address, issuedAt });
  return { message, signature: await wallets.basic.signMessage({ message }) };
}

async function findOpenMarket({ requestJson }: ExampleClient): Promise<string> {
  const { openRound } = await requestJson('/api/svc/clawstake/status');
  if (openRound === null) throw new Error('no round of the contest is open');
  return openRound.markets[0].market;
}

async function signCommitment(client: ExampleClient): Promise<object> {
  const { signing, timestamp } = await client.requestJson('/api/svc/clawstake/status');
  const market = await findOpenMarket(client);
  const { buyer } = client.wallets;
  const message = { market, wallet: buyer.address, probabilityBps: 5_500, issuedAtMs: Date.parse(timestamp) };
  const { types, primaryType } = signing;
  const typedMessage = { ...message, issuedAtMs: BigInt(message.issuedAtMs) };
  const signature = await buyer.signTypedData({ domain: signing.domain as TypedDataDomain, types, primaryType, message: typedMessage });
  return { ...message, signature };
}

async function payPurchase({ requestJson, wallets: { buyer }, rpcUrl }: ExampleClient, offering: string): Promise<object> {
  const { offerings } = await requestJson('/api/svc/commerce/offerings?channel=purchase');
  const found = offerings.find(({ name }: { name: string }) => name === offering);
  if (found === undefined) throw new Error(`${offering} is not sold`);
  const { payee, asset } = found.howToPay;
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [payee, BigInt(found.price.amount)] });
  const [txHash] = (await sendTransactionsForHashes(rpcUrl, buyer, [{ to: asset, data }])) as [Hash];
  return { offering, txHash, wallet: buyer.address };
}

async function buildPayment(
  { request, wallets: { buyer } }: Pick<ExampleClient, 'request' | 'wallets'>,
  path: string,
): Promise<Record<string, string>> {
  // The library does not know the stablecoin of a local chain.
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer)).setSpendControls({ allowedAssets: true });
  const http = new x402HTTPClient(client);
  const response = await request(path);
  const terms = http.getPaymentRequiredResponse((name) => response.headers.get(name), await response.json());
  return http.encodePaymentSignatureHeader(await http.createPaymentPayload(terms));
}

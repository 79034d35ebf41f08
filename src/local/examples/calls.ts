import type { TypedDataDomain } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { answerMessage } from '../../commerce/x402/answer-message.ts';
import { dayOf, formatDay } from '../../forecast/day.ts';
import { deliveredJob, fetchBody } from './job.ts';
import { paymentFor } from './pay.ts';
import { paidPurchase } from './transfer.ts';
import { WEBHOOK_CALLS } from './webhook-calls.ts';
import type { World } from './world.ts';

/** What a request is made of, beside the token of the tier that the operation asks for. */
export interface Call {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  headers?: Record<string, string>;
  /** The token is used up by this call. */
  endsSession?: true;
}

/** Who logs in where that is needed. */
export type Holder = 'basic' | 'premium';

const DAYS_BACK = 150;

/** How each operation is called that needs more than its path, by its name. */
export const CALLS: Record<string, (world: World, holder: Holder) => Promise<Call> | Call> = {
  verifyAttestation: async (world) => ({ params: { uid: (await resolution(world)).uid } }),
  getMetadata: async (world) => ({ params: { cid: (await resolution(world)).cid } }),
  getWagerEvidence: async (world) => ({ params: { date: await dateAt(world, '/api/svc/agent/feedback') } }),
  getReferencePageFile: () => ({ params: { file: 'initializer.js' } }),
  getPageFile: () => ({ params: { folder: 'lib', file: 'dom.js' } }),
  readLocalChain: () => ({ body: { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] } }),
  getWalletTier: ({ wallets }) => ({ params: { wallet: wallets.premium.address } }),
  logInWithWallet: async (world) => ({ body: await world.loginBody('premium') }),
  logInWithSiwe: async (world) => ({ body: await siweBody(world) }),
  logOut: () => ({ endsSession: true }),
  ...WEBHOOK_CALLS,
  buySignal: async (world) => await paidCall(world, '/oracle', await horizonWithSignal(world)),
  buyPremiumSignal: async (world) => await paidCall(world, '/oracle/premium', '7d'),
  buyOffering: async (world) => ({ body: await paidPurchase(world, 'svc_daily_macro_review') }),
  getAnswerAgain: async (world) => ({ body: await boughtAnswer(world) }),
  getJob: async (world) => ({ params: { jobId: await deliveredJob(world) } }),
  fetchJobDeliverable: async (world) => ({ params: { jobId: await deliveredJob(world) }, body: await fetchBody(world) }),
  runPredictBtcDirection: () => ({ body: { horizon: '7d' } }),
  runVerifyPrediction: async (world) => ({ body: { uid: (await resolution(world)).uid } }),
  runGetTrackRecord: () => ({ body: { horizon: '7d', pageSize: 3 } }),
  runGetMarketContext: () => ({ body: { include: ['price', 'sentiment', 'flows', 'macro', 'regime'] } }),
  sendAgentTask: () => ({
    body: { skill: 'get_market_context', input: { include: ['price', 'sentiment'] }, metadata: { agent: 'example' } },
  }),
  getAgentTask: async (world, holder) => ({ params: { id: await ownTask(world, holder) } }),
  getNextTradeIntent: async (world) => await horizonWithIntent(world),
  commitToContestMarket: async (world) => ({ body: await commitment(world) }),
  listContestCommitments: async (world) => ({ query: { market: await openMarket(world) } }),
  runStep: () => ({ params: { step: 'resolve' }, body: {} }),
  pauseWagers: () => ({ body: { reason: 'the venue is being looked at' } }),
  rotateTokenKeys: () => ({ body: { revoke: false } }),
  revokeWallet: ({ wallets }) => ({ params: { wallet: wallets.poor.address } }),
  getWeeklyReport: async (world) => ({ params: { weekId: (await world.json('/api/claw/latest')).weekId } }),
};

async function ownTask({ json, logIn }: World, holder: Holder): Promise<string> {
  const body = { skill: 'get_market_context', input: { include: ['price'] } };
  return (await json('/api/svc/a2a/tasks/send', { method: 'POST', token: await logIn(holder), body })).result.id;
}

/** A day may have an intent for one horizon and abstain for another. */
async function horizonWithIntent({ json, logIn }: World): Promise<Call> {
  const token = await logIn('premium');
  for (const horizon of ['7d', '3d', '2d']) {
    if ((await json(`/api/svc/copy-trade/next?horizon=${horizon}`, { token })) !== null) return { query: { horizon } };
  }
  return {};
}

async function paidCall(world: World, path: string, horizon: string): Promise<Call> {
  return { query: { horizon }, headers: await paymentFor(world, `${path}?horizon=${horizon}`) };
}

/** An abstention is told without a charge. */
async function horizonWithSignal({ json, logIn }: World): Promise<string> {
  const token = await logIn('basic');
  for (const horizon of ['7d', '3d', '2d']) {
    if ((await json(`/api/svc/oracle?horizon=${horizon}`, { token })).signal !== 'HOLD') return horizon;
  }
  return '7d';
}

/** A wallet that has paid for an answer asks for it again. */
async function boughtAnswer(world: World): Promise<object> {
  const path = '/oracle/premium?horizon=7d';
  const { payment } = await world.json(path, { headers: await paymentFor(world, path) });
  const { txHash } = payment;
  const { address: wallet } = world.wallets.buyer;
  const timestamp = world.nowMs();
  return { txHash, wallet, timestamp, signature: await world.wallets.buyer.signMessage({ message: answerMessage(txHash, timestamp) }) };
}

/** A resolved attestation: everything of it is public. */
async function resolution(world: World): Promise<{ uid: string; cid: string }> {
  const { data } = await world.json('/api/svc/onchain-oracle/history?horizons=all&limit=100');
  const found = data.find(({ type }: { type: string }) => type === 'resolution') ?? data[0];
  if (found === undefined) throw new Error('nothing is attested');
  return found;
}

/** The newest day that something is served for under a path. */
async function dateAt(world: World, path: string): Promise<string> {
  const { timestamp } = await world.json('/api/svc/clawstake/status');
  const today = dayOf(Date.parse(timestamp));
  for (let day = today; day > today - DAYS_BACK; day--) {
    if ((await world.ask(`${path}/${formatDay(day)}`)).ok) return formatDay(day);
  }
  throw new Error(`nothing is served under ${path} for any of the last ${DAYS_BACK} days`);
}

async function siweBody({ json, wallets }: World): Promise<object> {
  const { domain, uri, version, chainId, nonce, expiresAt } = await json('/api/svc/oracle/nonce');
  const { address } = wallets.basic;
  const issuedAt = new Date(Date.parse(expiresAt) - 5 * 60_000);
  const message = createSiweMessage({ domain, uri, version, chainId, nonce, address, issuedAt });
  return { message, signature: await wallets.basic.signMessage({ message }) };
}

async function openMarket({ json }: World): Promise<string> {
  const { openRound } = await json('/api/svc/clawstake/status');
  if (openRound === null) throw new Error('no round of the contest is open');
  return openRound.markets[0].market;
}

async function commitment(world: World): Promise<object> {
  const { signing, timestamp } = await world.json('/api/svc/clawstake/status');
  const market = await openMarket(world);
  const { buyer } = world.wallets;
  const message = { market, wallet: buyer.address, probabilityBps: 5_500, issuedAtMs: Date.parse(timestamp) };
  const domain = signing.domain as TypedDataDomain;
  const { types, primaryType } = signing;
  const signature = await buyer.signTypedData({
    domain,
    types,
    primaryType,
    message: { ...message, issuedAtMs: BigInt(message.issuedAtMs) },
  });
  return { ...message, signature };
}

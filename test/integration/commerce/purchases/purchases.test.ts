import canonicalize from 'canonicalize';
import {
  createPublicClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hash,
  type Hex,
  http,
  keccak256,
  parseAbiParameters,
  stringToBytes,
  verifyTypedData,
} from 'viem';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { composeDocument } from '../../../../src/commerce/documents/track-record.ts';
import { findOffering } from '../../../../src/commerce/offerings.ts';
import { buildPurchaseMessage } from '../../../../src/commerce/purchases.ts';
import { sendTransactionsForHashes } from '../../../../src/dev/local-chain/contracts.ts';
import { PURCHASE_OFFERINGS, PURCHASE_REPLY } from '../../../../src/http/routes/jobs.ts';
import { BITCOIN_SIGNAL, CROWD_VS_ORACLE, MARKET_CONTEXT_DOCUMENT } from '../../../../src/http/schemas/documents.ts';
import { buildOpening } from '../../../../src/record/forecast-doc.ts';
import { demoWallets } from '../../../support/auth/login.ts';
import { tokenAbi } from '../../../support/commerce/purchases.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { untoldForecasts } from '../../../support/record/planted-forecast.ts';
import { attestedOnChain, type TestService } from '../../../support/service/service.ts';
import { NOW, untoldService } from '../../../support/service/unpublished-service.ts';

let service: TestService;
let served: Served;
/** Salts of forecasts that are not revealed. */
let secrets: string[];

beforeAll(async () => {
  service = await untoldService();
  served = await serve(service);
  const { saltSecret } = service.pipeline;
  secrets = (await untoldForecasts(service)).map((doc) => buildOpening(saltSecret, doc._id, doc.values!).salt);
});
afterAll(async () => {
  await served.close();
  await service.stop();
  vi.useRealTimers();
});

/** A transfer of the buyer to the payee, mined. */
async function pay(micros: bigint): Promise<Hash> {
  const { rpcUrl } = service.infrastructure;
  const { asset, payee } = service.http.commerce.merchant;
  const { buyer } = demoWallets(service);
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [payee, micros] });
  const [hash] = await sendTransactionsForHashes(rpcUrl, buyer, [{ to: asset, data }]);
  return hash;
}

interface Answer {
  status: number;
  type: string | null;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  body: any;
}

async function post(body: object): Promise<Answer> {
  const response = await fetch(`${served.url}/api/svc/commerce/purchase`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, type: response.headers.get('content-type'), text, body: JSON.parse(text) };
}

const bought = new Map<string, Promise<Answer>>();

/** Each offering is bought once for all tests. */
function buy(offering: string): Promise<Answer> {
  const answer = bought.get(offering) ?? buyNow(offering);
  bought.set(offering, answer);
  return answer;
}

async function buyNow(offering: string): Promise<Answer> {
  const txHash = await pay(findOffering('purchase', offering)!.price.amount);
  return post({ offering, txHash, wallet: demoWallets(service).buyer.address });
}

describe('each offering', () => {
  it.each(PURCHASE_OFFERINGS)('%s is delivered as documented, with a verifiable receipt', async (offering) => {
    const { status, text, body } = await buy(offering);
    expect(status, text.slice(0, 500)).toBe(200);
    expect(undocumented(PURCHASE_REPLY, body)).toEqual([]);
    const { document, payment, receipt } = body;
    expect(document).toMatchObject({ kind: offering.replace('svc_', ''), title: body.title, marketKind: 'simulated' });
    expect(document.sentences.join(' ')).not.toMatch(/undefined|NaN|\[object/);
    expect(receipt.message).toMatchObject({
      answerHash: keccak256(stringToBytes(canonicalize(document) as string)),
      resource: `purchase:${offering}`,
      forecastId: document.forecastId ?? '',
      txHash: payment.txHash,
      amount: findOffering('purchase', offering)!.price.amount.toString(),
    });
    const { amount, settledAt, ...message } = receipt.message;
    const typed = { ...message, amount: BigInt(amount), settledAt: BigInt(settledAt) };
    expect(receipt.signer).toBe(service.http.commerce.merchant.payee);
    expect(await verifyTypedData({ ...receipt, address: receipt.signer, message: typed })).toBe(true);
  });

  it('is delivered again and paid once', async () => {
    const { body } = await buy('svc_daily_macro_review');
    const { payer: wallet, txHash } = body.payment;
    const again = await post({ offering: body.offering, txHash, wallet });
    expect(again).toMatchObject({ status: 200, body: { ...body, again: true } });
    expect(await service.http.commerce.ledger.payments.countDocuments({ txHash })).toBe(1);
  });
});

describe('before a payment', () => {
  it('the example, the steps and the terms of requests name the message to sign', async () => {
    const list = await fetch(`${served.url}/api/svc/commerce/offerings?channel=purchase`);
    // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
    const { offerings } = (await list.json()) as any;
    expect(offerings).toHaveLength(PURCHASE_OFFERINGS.length);
    for (const { name, example, howToPay } of offerings) {
      const message = `Buy svc offering: ${name}:<txHash in lower case>`;
      expect(example).toContain(message);
      expect(howToPay.signature).toEqual({ required: false, message, scheme: 'EIP-191' });
      expect(howToPay.steps.join('\n')).toContain(message);
    }
    // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
    const { payment } = (await (await fetch(`${served.url}/oracle`)).json()) as any;
    expect(payment.otherwise).toContain('a transfer and a signed POST');
  });

  it('a claim without its signature returns 402 with the exact message to sign', async () => {
    const { buyer } = demoWallets(service);
    const order = { offering: 'svc_daily_macro_review', txHash: await pay(500_000n), wallet: buyer.address };
    const wrong = await post({ ...order, signature: `0x${'11'.repeat(64)}1b` });
    expect([wrong.status, wrong.body.signMessage]).toEqual([401, buildPurchaseMessage(order.offering, order.txHash)]);
    const signature = await buyer.signMessage({ message: wrong.body.signMessage });
    expect(await post({ ...order, signature })).toMatchObject({ status: 200, body: { again: false } });
    const unsigned = await post(order);
    expect(unsigned).toMatchObject({ status: 402, body: { code: 'PAYMENT_REQUIRED', field: 'signature', ...{ signScheme: 'EIP-191' } } });
    expect(unsigned.body.signMessage).toBe(wrong.body.signMessage);
  });

  it('a transfer that the node does not know yet asks for a retry of the same claim', async () => {
    const { buyer } = demoWallets(service);
    const response = await fetch(`${served.url}/api/svc/commerce/purchase`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ offering: 'svc_daily_macro_review', txHash: `0x${'7'.repeat(64)}`, wallet: buyer.address }),
    });
    expect([response.status, response.headers.get('Retry-After')]).toEqual([402, '5']);
    const problem = { code: 'TRANSFER_UNCONFIRMED', field: 'txHash', retryable: true, confirmations: 0 };
    expect(await response.json()).toMatchObject({ ...problem, suggestedAction: expect.stringMatching(/^Repeat the request/) });
  });
});

describe('the signal with proof', () => {
  it('opens the commitment on chain, checked by viem alone', async () => {
    const { forecast, proof, forecastId } = (await buy('svc_signal_with_proof')).body.document;
    const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = forecast.opening;
    const types = parseAbiParameters('bytes32, uint8, uint8, uint16, uint16, uint64');
    const encoded = encodeAbiParameters(types, [salt, signal, direction, confidenceBps, pUpBps, BigInt(btcPriceCents)]);
    expect(encoded).toBe(proof.encodedOpening);
    expect(keccak256(encoded)).toBe(proof.commitment);
    expect(forecast).toMatchObject({ predictionId: forecastId, horizon: '7d', btcPrice: btcPriceCents / 100, pUp: pUpBps / 10_000 });
    const onChain = await service.http.attestations.read(proof.attestation.uid);
    expect(onChain).toMatchObject({ data: proof.prediction.data, attester: proof.attester, schemaUid: proof.prediction.schemaUid });
    expect(onChain!.refUid).toBe(proof.prediction.refUid);
    expect(Object.fromEntries(onChain!.decoded.map(({ name, value }) => [name, value]))).toEqual(proof.prediction.words);
    expect(onChain!.at.toISOString()).toBe(proof.attestation.blockTime);
    const client = createPublicClient({ transport: http(service.infrastructure.rpcUrl) });
    const receipt = await client.getTransactionReceipt({ hash: proof.attestation.txHash });
    expect(Number(receipt.blockNumber)).toBe(proof.attestation.blockNumber);
  });
});

describe('the verified track record', () => {
  const tableOf = (document: { columns: { name: string }[] }, rows: unknown[][]) =>
    // biome-ignore lint/suspicious/noExplicitAny: cells are what is tested
    rows.map((row) => Object.fromEntries(document.columns.map(({ name }, index) => [name, row[index]])) as Record<string, any>);

  it('contains every attestation on chain with its content', async () => {
    const { document } = (await buy('svc_verified_track_record')).body;
    // biome-ignore lint/suspicious/noExplicitAny: the document is what is tested
    const rows = document.horizons.flatMap((one: any) => tableOf(document, one.rows));
    const of = (column: string) => rows.flatMap((row: Record<string, unknown>) => (row[column] === null ? [] : [row[column]]));
    expect(of('predictionUid')).toHaveLength(await attestedOnChain(service, 'prediction'));
    expect(of('resolutionUid')).toHaveLength(await attestedOnChain(service, 'resolution'));
    const types = parseAbiParameters('bytes32, uint8, uint8, uint16, uint16, uint64');
    const codes: Record<string, number> = { HOLD: 0, BUY: 1, SELL: 2, UP: 1, DOWN: 2 };
    for (const row of rows.filter(({ resolutionUid }: { resolutionUid: Hex | null }) => resolutionUid !== null)) {
      const [prediction, resolution] = await Promise.all([row.predictionUid, row.resolutionUid].map(service.http.attestations.read));
      const fields = (found: typeof prediction) => Object.fromEntries(found!.decoded.map(({ name, value }) => [name, value]));
      const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = row;
      const opening = [salt, codes[signal], codes[direction], confidenceBps, pUpBps, BigInt(btcPriceCents)] as const;
      expect(fields(prediction)).toMatchObject({ sequence: row.sequence, commitment: keccak256(encodeAbiParameters(types, opening)) });
      const { btcAtSignalCents, btcAtResolutionCents, returnBps } = row;
      expect(fields(resolution)).toMatchObject({ salt, btcAtSignalCents, btcAtResolutionCents, returnBps, confidenceBps, pUpBps });
      expect(document.transactions.rows[row.predictionTx][2]).toBe(prediction!.at.toISOString());
    }
  });

  it('contains every day, with counts that match its rows', async () => {
    const { document } = (await buy('svc_verified_track_record')).body;
    for (const { rows, statistics } of document.horizons) {
      const tableRows = tableOf(document, rows);
      expect(tableRows.map(({ sequence }) => sequence)).toEqual(tableRows.map((_, index) => index + 1));
      const count = (status: string) => tableRows.filter((row) => row.status === status).length;
      const { wins, losses, holds, voids, pending } = statistics;
      expect({ wins, losses, holds, voids, pending }).toEqual({
        ...{ wins: count('WIN'), losses: count('LOSS'), holds: count('HOLD') },
        ...{ voids: count('VOID'), pending: count('PENDING') },
      });
      expect(document.days.rows).toHaveLength(tableRows.length);
    }
    expect(document.audit.firstDate).toBe(document.days.rows[0][0]);
  });

  it('shows unresolved forecasts with public visibility', async () => {
    const { text, body } = await buy('svc_verified_track_record');
    for (const salt of secrets) expect(text).not.toContain(salt);
    // biome-ignore lint/suspicious/noExplicitAny: the document is what is tested
    const rows = body.document.horizons.flatMap((one: any) => tableOf(body.document, one.rows));
    const pending = rows.filter(({ status }: { status: string }) => status === 'PENDING');
    expect(pending.length).toBeGreaterThan(0);
    for (const { signal, direction, confidenceBps, salt, btcAtResolutionCents } of pending) {
      expect([signal, direction, confidenceBps, salt, btcAtResolutionCents]).toEqual([null, null, null, null, null]);
    }
  });
});

/** The probability of a strike by the words of the document's formula, with nothing of the service. */
// biome-ignore lint/suspicious/noExplicitAny: the document is what is tested
function recomputed({ strike, spot, expiresAt, at, horizonDays, pUp, v94, v99, modelVersion }: any, models: any[]): number {
  const { residualQuantiles: q } = models.find((model) => model.modelVersion === modelVersion && model.horizonDays === horizonDays);
  const days = (Date.parse(expiresAt) - Date.parse(at)) / 86_400_000;
  expect([1, 2, 3, 7].every((horizon) => Math.abs(horizonDays - days) <= Math.abs(horizon - days))).toBe(true);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [lower, upper] = [q[9] - mean(q.slice(0, 9)), mean(q.slice(190)) - q[189]];
  const share = (z: number): number => {
    if (z < q[0]) return 0.005 * Math.exp((z - q[0]) / lower);
    if (z >= q[198]) return 1 - 0.005 * Math.exp((q[198] - z) / upper);
    const i = q.findIndex((value: number) => value > z);
    return 0.005 * (i + (z - q[i - 1]) / (q[i] - q[i - 1]));
  };
  // F rises: the shift is where it is 1 - pUp, found by halving.
  let [low, high] = [-1_000, 1_000];
  for (let step = 0; step < 100; step += 1) {
    const middle = (low + high) / 2;
    if (share(middle) < 1 - pUp) low = middle;
    else high = middle;
  }
  const scale = Math.sqrt(days * (0.5 * v94 + 0.5 * v99));
  return Math.round((1 - share(Math.log(strike / spot) / scale + low)) * 10_000) / 10_000;
}

describe('the other documents', () => {
  it('report all horizons, each with its record and model', async () => {
    const { document } = (await buy('svc_analysis_report')).body;
    expect(document.horizons.map(({ forecast }: { forecast: { horizon: string } }) => forecast.horizon)).toEqual(['1d', '2d', '3d', '7d']);
    for (const { quantiles, record, forecast } of document.horizons) {
      const prices = quantiles.map(({ price }: { price: number }) => price);
      expect(prices).toEqual(prices.toSorted((a: number, b: number) => a - b));
      expect(record.verdict).toBe(forecast.skill.verdict);
    }
    expect(document.inputs.length).toBeGreaterThan(5);
  });

  it('compare crowd and oracle for the running week', async () => {
    const { document } = (await buy('svc_crowd_vs_oracle')).body;
    expect(document.running).toMatchObject({ gated: false, status: 'PENDING', predictionId: document.forecastId });
    expect(document.running.oracleProbability).toEqual(expect.any(Number));
    expect(Date.parse(document.running.expiresAt)).toBeGreaterThan(NOW);
    expect(document.weeks.every(({ gated }: { gated: boolean }) => !gated)).toBe(true);
  });

  it('prove each week of crowd and oracle: openings hash to the commitments on chain', async () => {
    const { document } = (await buy('svc_crowd_vs_oracle')).body;
    const { weeks } = document.evidence;
    expect(weeks.map(({ weekId }: { weekId: string }) => weekId)).toEqual(document.weeks.map(({ weekId }: { weekId: string }) => weekId));
    // biome-ignore lint/suspicious/noExplicitAny: the document is what is tested
    const proofs = weeks.flatMap((week: any) => week.proofs);
    expect(proofs.map(({ predictionId }: { predictionId: string }) => predictionId)).toContain(document.forecastId);
    const types = parseAbiParameters('bytes32, uint8, uint8, uint16, uint16, uint64');
    for (const { opening, commitment, predictionUid, status } of proofs) {
      const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = opening;
      expect(keccak256(encodeAbiParameters(types, [salt, signal, direction, confidenceBps, pUpBps, BigInt(btcPriceCents)]))).toBe(
        commitment,
      );
      const onChain = await service.http.attestations.read(predictionUid);
      const fields = Object.fromEntries(onChain!.decoded.map(({ name, value }) => [name, value]));
      expect(fields.commitment).toBe(commitment);
      if (status !== 'VOID') expect(onChain!.at.getTime()).toBeLessThan(Number(fields.windowOpensAt) * 1_000);
    }
  });

  it('contain all inputs of the probability of each strike', async () => {
    const { document } = (await buy('svc_crowd_vs_oracle')).body;
    const tableRows = document.weeks.filter(({ predictionId }: { predictionId: string | null }) => predictionId !== null);
    expect(tableRows.length).toBeGreaterThan(1);
    for (const { weekId, oracleProbability, strike, expiresAt, btcPrice } of tableRows) {
      const { probability, proofs } = document.evidence.weeks.find((week: { weekId: string }) => week.weekId === weekId);
      expect(probability).toMatchObject({ strike, expiresAt, spot: btcPrice, oracleProbability });
      expect(recomputed(probability, document.evidence.models)).toBe(oracleProbability);
      const { opening } = proofs.find(({ predictionId }: { predictionId: string }) =>
        predictionId.endsWith(`:${probability.horizonDays}d`),
      );
      expect([Math.round(probability.pUp * 10_000), Math.round(probability.spot * 100)]).toEqual([opening.pUpBps, opening.btcPriceCents]);
    }
  });

  it('review the market by figures with source and age, without a forecast', async () => {
    const { document, payment } = (await buy('svc_daily_macro_review')).body;
    expect(document).toMatchObject({ forecastId: null, attestationUid: null });
    const figures = ['price', 'macro', 'rates', 'flows', 'derivatives', 'sentiment'].flatMap((section) => document[section]);
    expect(figures).toHaveLength(21);
    for (const { value, source, observedAt, ageSeconds } of figures) {
      expect([typeof value, typeof source]).toEqual(['number', 'string']);
      const age = (Date.parse(document.generatedAt) - Date.parse(observedAt)) / 1_000;
      expect(Math.abs(ageSeconds - Math.max(0, age))).toBeLessThan(1);
    }
    expect(figures.filter(({ correlation }: { correlation: number | null }) => correlation !== null).length).toBeGreaterThanOrEqual(4);
    expect(Object.keys(document)).not.toContain('forecast');
    expect(payment.usd).toBe('0.50');
  });

  it('summarize the day: forecast, stake and risk', async () => {
    const { document } = (await buy('svc_alpha_brief')).body;
    const { stake, risks, forecast } = document;
    expect(keccak256(document.proof.encodedOpening)).toBe(forecast.commitment);
    expect(stake.market ?? stake.marketReason).not.toBeNull();
    if (stake.sizing !== null) expect(stake.contractSide).toBe(stake.sizing.side);
    expect(stake.actionable).toBe(stake.notActionableBecause === null);
    expect(risks.length).toBeGreaterThan(2);
  });

  it('summarize the day: forecasts revealed within 24 hours', async () => {
    const revealed = await service.pipeline.record.forecasts.find({ reveal: { $ne: null } }).toArray();
    const at = new Date(Math.max(...revealed.map(({ reveal }) => reveal!.at.getTime())));
    const { document } = await composeDocument(service.http, 'purchase', 'svc_alpha_brief', at);
    const { since, forecasts } = document.resolvedSince as { since: string; forecasts: { predictionId: string }[] };
    expect(since).toBe(new Date(at.getTime() - 86_400_000).toISOString());
    const within = revealed.filter(({ reveal }) => reveal!.at > new Date(since)).map(({ _id }) => _id);
    expect(within.length).toBeLessThan(revealed.length);
    expect(forecasts.map(({ predictionId }) => predictionId)).toEqual(within.toSorted());
  });

  it.each([
    ['svc_bitcoin_signal', BITCOIN_SIGNAL],
    ['svc_market_context', MARKET_CONTEXT_DOCUMENT],
    ['svc_crowd_vs_oracle', CROWD_VS_ORACLE],
  ] as const)('of the job %s are as they are documented', async (offering, schema) => {
    const { document, forecastId } = await composeDocument(service.http, 'agent-commerce', offering, new Date(NOW));
    expect(undocumented(schema, JSON.parse(JSON.stringify(document)))).toEqual([]);
    expect(forecastId === null).toBe(offering === 'svc_market_context');
  });

  it('are sold in their own channel only', async () => {
    const compose = () => composeDocument(service.http, 'x402', 'x402_signal', new Date(NOW));
    await expect(compose).rejects.toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field: 'offering' }));
  });
});

describe('an invalid request', () => {
  const wallet = () => demoWallets(service).buyer.address;

  it.each([
    ['offering', { offering: 'svc_bitcoin_signal' }],
    ['offering', { offering: undefined }],
    ['txHash', { txHash: '0x12' }],
    ['wallet', { wallet: 'satoshi' }],
    ['signature', { signature: 'x' }],
    ['ref', { ref: '<script>' }],
  ])('is rejected by its %s', async (field, change) => {
    const { status, type, body } = await post({ offering: 'svc_alpha_brief', txHash: `0x${'1'.repeat(64)}`, wallet: wallet(), ...change });
    expect([status, type]).toEqual([400, expect.stringContaining('application/problem+json')]);
    expect(body).toMatchObject({ code: 'INPUT_INVALID', field });
  });

  it('returns a problem that reveals nothing', async () => {
    const offering = 'svc_signal_with_proof';
    const cheap = await pay(1n);
    const paid = await pay(1_000_000n);
    const outsider = demoWallets(service).poor;
    const signature = await outsider.signMessage({ message: buildPurchaseMessage(offering, paid) });
    const cases: [number, string, object][] = [
      [402, 'TRANSFER_UNCONFIRMED', { offering, txHash: `0x${'2'.repeat(64)}`, wallet: wallet() }],
      [402, 'PAYMENT_REQUIRED', { offering, txHash: cheap, wallet: wallet() }],
      [400, 'INPUT_INVALID', { offering, txHash: paid, wallet: outsider.address }],
      [401, 'UNAUTHENTICATED', { offering, txHash: paid, wallet: wallet(), signature }],
    ];
    for (const [status, code, body] of cases) {
      const answer = await post(body);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      expect(answer.text).not.toMatch(/confidence|direction|pUp|salt/i);
      for (const salt of secrets) expect(answer.text).not.toContain(salt);
    }
    expect(await post(cases[1][2])).toMatchObject({ body: { paid: '1', price: '1000000', missingUsd: '0.999999' } });
  });
});

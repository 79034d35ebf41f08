import type { Hash } from 'viem';
import { z } from 'zod';
import { ENDPOINTS, IDENTITY } from '../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../skills/index.ts';
import type { Prediction } from '../../../skills/predict-btc-direction.ts';
import { prepareCall } from '../../../skills/runner.ts';
import { buildAnswerSample, toSkillJsonSchema } from '../../../skills/skill.ts';
import { PAYING_CALLER } from '../../auth/caller.ts';
import { REF_CODE_PATTERN, REF_CODE_RULE } from '../../commerce/ledger.ts';
import {
  addForecastTerms,
  FORECAST_TERMS,
  type ForecastTerms,
  formatAmount,
  formatMoney,
  getCaip2Network,
  getOfferingId,
  type Offering,
  PAID_RESOURCES,
  type PaidResource,
  USD_DECIMALS,
} from '../../commerce/offerings.ts';
import { getReceiptDomain, OFFER_RECEIPT, RECEIPT_TYPES } from '../../commerce/receipts.ts';
import { BAZAAR, declareHttpResource, SAMPLE_ANSWERS } from '../../commerce/x402/bazaar.ts';
import { ANSWER_RETENTION_DAYS, toSaleResponse, toSettlementResponse } from '../../commerce/x402/sales.ts';
import { PAYMENT_IDENTIFIER, type PaymentQuote } from '../../commerce/x402/terms.ts';
import { OracleError } from '../../errors.ts';
import { DEFAULT_HORIZON, HORIZON_DESCRIPTION, HORIZON_SPELLINGS, parseHorizonDays } from '../../forecast/horizon-input.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { namedObject } from '../../platform/validation.ts';
import { ORACLE_SIGNAL, PREMIUM_SIGNAL } from '../../record/schemas/signal.ts';
import { rawWalletInput, signalDaysInput, signatureInput, txHashInput } from '../parameters.ts';
import {
  buildSettlementHeaders,
  encodePaymentHeader,
  PAYMENT_REQUIRED_HEADER,
  type PaymentProof,
  readPaymentProof,
  SETTLEMENT_HEADERS,
} from '../problems.ts';
import { type Reply, toTaggedReply } from '../replies.ts';
import { PAYMENT_HEADERS } from '../request.ts';
import { type Route, route } from '../route.ts';
import { SOLD, X402_DOCUMENT } from '../schemas/payment.ts';
import type { Services } from '../services.ts';
import { LOGIN_BODY, requireWalletSignature } from './auth.ts';
import { toOracleSignal, toPremiumSignal } from './signal.ts';

const PAYMENT_DESCRIPTION =
  'Without a payment it answers 402 with the terms in both versions of x402, independent of the forecast. `payment` and `receipt` are added to the answer. The same payment from the same address, or with its payment-identifier, gets the same answer and is never charged twice; the paying wallet gets it again from `POST /api/svc/commerce/answers`. Failed requests are not charged.';

/** `POST /api/svc/commerce/answers`: an answer sold over any transport. */
const ANSWER_AGAIN = z
  .looseObject(SOLD)
  .describe('The answer as first delivered, by the schema of its operation')
  .meta({ id: 'AnswerAgain' });

/** Interface, section 4.5: paid operations, and redelivery of their answers. */
export function paidRoutes(deps: Services): Route[] {
  const [signal, premium] = ['x402_signal', 'x402_premium_signal'].map((name) => PAID_RESOURCES.find((one) => one.name === name)!);
  return [
    createPaidRoute(deps, {
      name: 'buySignal',
      summary: 'The newest forecast of a horizon with its proof, paid per request',
      offering: signal,
      reply: PAID_SIGNAL,
      detail: 'basic',
      render: toOracleSignal,
    }),
    createPaidRoute(deps, {
      name: 'buyPremiumSignal',
      summary: 'The premium signal with the scorecard, paid per request',
      offering: premium,
      reply: PAID_PREMIUM_SIGNAL,
      detail: 'premium',
      render: toPremiumSignal,
    }),
    route('POST /api/svc/commerce/answers', 'getAnswerAgain', {
      tag: 'commerce',
      cost: 'rpc',
      deliversPaid: true,
      summary: 'Redelivers a paid x402 answer to the paying wallet',
      description: `For a payer that lost the answer. The wallet signs \`${ANSWER_MESSAGE_TEMPLATE}\` (EIP-191; contract wallets by EIP-1271 or ERC-6492). Answers of all interfaces are kept for 30 days.`,
      body: z.strictObject({
        txHash: txHashInput('Transaction that paid for the answer'),
        wallet: rawWalletInput,
        timestamp: LOGIN_BODY.shape.timestamp,
        signature: signatureInput,
      }),
      reply: ANSWER_AGAIN,
      errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
      async handle({ body: { txHash, wallet, timestamp, signature } }) {
        const message = buildAnswerMessage(txHash, timestamp);
        await requireWalletSignature(deps, { message, template: ANSWER_MESSAGE_TEMPLATE, wallet, timestamp, signature });
        const answer = await deps.commerce.sales.findSaleResult(txHash, wallet);
        if (answer !== null) {
          // Delivered without its payment: with the settlement in version 2.
          const { chain, amountMicros } = answer.payment;
          const settlement = { ...toSettlementResponse(answer, chain), amount: amountMicros.toString() };
          return {
            body: { ...answer.body, ...toSaleResponse(answer) },
            headers: { [SETTLEMENT_HEADERS.v2]: encodePaymentHeader(settlement) },
          };
        }
        throw new OracleError('NOT_FOUND', 'No stored answer was paid by this wallet in this transaction', {
          field: 'txHash',
          suggestedAction: 'Take the transaction from PAYMENT-RESPONSE or from the chain; answers are kept for 30 days.',
        });
      },
    }),
  ];
}

/** Message that a payer signs to fetch a paid answer again, with the timestamp exactly as in the request. */
export function buildAnswerMessage(txHash: Hash, timestamp: number): string {
  return `Fetch svc answer: ${txHash.toLowerCase()}:${timestamp}`;
}

const ANSWER_MESSAGE_TEMPLATE = 'Fetch svc answer: <txHash in lower case>:<timestamp>';

export const REF_QUERY = z.object({
  ref: z
    .string({ error: `must be given once, with ${REF_CODE_RULE}` })
    .regex(REF_CODE_PATTERN, `must have ${REF_CODE_RULE}`)
    .optional()
    .describe(`Ref code of the partner, in any case: ${REF_CODE_RULE}`),
});

/** Errors of a sale, besides those that follow from parameters and access. */
export const SALE_ERRORS = ['CONFLICT', 'STEP_WAITING', 'CHAIN_UNREACHABLE', 'SIGNER_UNAVAILABLE', 'TRANSACTION_UNCONFIRMED'] as const;

const PAID_INPUT = {
  type: 'object',
  properties: {
    horizon: {
      type: 'string',
      enum: HORIZON_SPELLINGS,
      default: DEFAULT_HORIZON,
      description: HORIZON_DESCRIPTION,
    },
    ref: { type: 'string', pattern: REF_CODE_PATTERN.source, description: 'Ref code of the partner' },
  },
} as const;

interface PaidOperation<R extends z.ZodObject> extends Pick<Route, 'name' | 'summary'> {
  offering: Offering & { resource: PaidResource };
  reply: R;
  detail: 'basic' | 'premium';
  render: typeof toOracleSignal | typeof toPremiumSignal;
}

/** A paid operation. The answer is computed between verification and settlement of the payment, and depends on neither. */
function createPaidRoute<R extends z.ZodObject>(
  deps: Services,
  { name, offering, reply, detail, render, ...declared }: PaidOperation<R>,
): Route {
  const access = { tier: PAYING_CALLER.tier, wallet: null, requirement: `${formatMoney(offering.price)} a request` };
  // One listing for all horizons: directories drop the query of the URL.
  const bazaar = declareHttpResource(
    { example: { horizon: DEFAULT_HORIZON }, schema: PAID_INPUT },
    buildAnswerSample(reply, SAMPLE_ANSWERS[offering.name] ?? {}),
  );
  return route(`GET ${offering.resource.path}`, name, {
    ...declared,
    description: `${PAYMENT_DESCRIPTION} ${FORECAST_TERMS}`,
    tag: 'signal',
    access: 'paid',
    offering,
    query: z.object({ horizon: signalDaysInput, ...REF_QUERY.shape }),
    reply,
    errors: ['UNAUTHENTICATED', ...SALE_ERRORS],
    async handle({ query, context, header, isHead }) {
      const call = prepareCall('predict_btc_direction', { horizon: formatHorizonName(query.horizon), detail }, PAYING_CALLER);
      const as = {
        resource: buildPaidResource(offering, deps.publicUrl, query.horizon),
        render: (output: object) => render(output as Prediction, access),
      };
      const sale = { call, endpoint: offering.resource.path, as, bazaar };
      const quote = await deps.paidCalls.quote(sale);
      // HEAD is never charged.
      const proof = isHead ? null : readPaymentProof(header, quote);
      const payment = proof?.payment ?? null;
      const sold = await deps.paidCalls.sell({ ...sale, payment, ref: query.ref, context, owner: context.address });
      const headers = buildSoldHeaders(sold, quote, proof);
      return { headers, body: { ...sold.output, ...toSaleResponse(sold) } } as Reply<R extends z.ZodType ? z.input<R> : never>;
    },
  });
}

/** The paid resource with the canonical URL of quotes and receipts. */
export function buildPaidResource(
  { resource: { path, describe } }: PaidOperation<z.ZodObject>['offering'],
  publicUrl: string,
  horizonDays: number,
) {
  const url = `${joinUrl(publicUrl, path)}?horizon=${formatHorizonName(horizonDays)}`;
  return { url, description: describe(horizonDays), mimeType: 'application/json' };
}

export function buildSoldHeaders(
  settled: Parameters<typeof toSettlementResponse>[0],
  quote: PaymentQuote,
  paymentProof: PaymentProof | null,
): Record<string, string> {
  return buildSettlementHeaders((network) => toSettlementResponse(settled, network), quote, paymentProof?.headers ?? []);
}

export const PAID_SIGNAL = namedObject('PaidSignal', { ...ORACLE_SIGNAL.shape, ...SOLD });

export const PAID_PREMIUM_SIGNAL = namedObject('PaidPremiumSignal', { ...PREMIUM_SIGNAL.shape, ...SOLD });

const FIVE_MINUTES = { 'Cache-Control': 'public, max-age=300' };

/** `GET /.well-known/x402`, in the format of crawlers. */
export const X402_RESOURCES = namedObject('X402Resources', {
  version: z.literal(1).describe('Format version'),
  resources: z.array(z.url()).describe('Resources that answer 402 with their terms'),
  instructions: z.string().describe('What an agent should know first'),
});

/** Interface, section 4.1: discovery of paid resources. */
export function x402Routes(deps: Services): Route[] {
  return [
    route(`GET ${ENDPOINTS.x402}`, 'getX402Document', {
      tag: 'commerce',
      summary: 'x402 resources, their terms, and how to verify receipts',
      reply: X402_DOCUMENT,
      handle: async () => toTaggedReply(await buildX402Document(deps), FIVE_MINUTES),
    }),
    route(`GET ${ENDPOINTS.x402Resources}`, 'listX402Resources', {
      tag: 'commerce',
      summary: 'The same as a bare list of URLs, for crawlers',
      reply: X402_RESOURCES,
      handle: () => toTaggedReply(buildX402Resources(deps), FIVE_MINUTES),
    }),
  ];
}

interface EntryDeps extends Services {
  /** Added to each description, as in quotes. */
  forecastTerms: ForecastTerms;
}
type X402Document = z.input<typeof X402_DOCUMENT>;

const MIME_TYPE = 'application/json';

/** All extensions that quotes may declare. */
const PAYMENT_EXTENSIONS = [PAYMENT_IDENTIFIER, BAZAAR, OFFER_RECEIPT] as const;

export async function buildX402Document(services: Services): Promise<X402Document> {
  const { commerce, publicUrl } = services;
  const { merchant, facilitatorUrl: url } = commerce;
  const toUrl = (path: string) => joinUrl(publicUrl, path);
  const deps = { ...services, forecastTerms: await commerce.readForecastTerms() };
  const resources = await Promise.all([
    ...PAID_RESOURCES.map((offering) => buildOperationEntry(offering, deps)),
    ...SOLD_SKILLS.map((skill) => buildSkillEntry(skill, deps)),
  ]);
  return {
    success: true,
    version: 1,
    x402Versions: resources.some(({ v1 }) => v1.accepts.length > 0) ? [1, 2] : [2],
    name: IDENTITY.name,
    description: IDENTITY.description,
    chain: getCaip2Network(merchant),
    network: resources[0]?.v1.accepts[0]?.network ?? null,
    payee: merchant.payee,
    asset: { address: merchant.asset, ...merchant.domain, decimals: USD_DECIMALS },
    realMoney: merchant.realMoney,
    facilitator: { kind: url === null ? 'in-process' : 'external', url },
    headers: { proof: [...PAYMENT_HEADERS], terms: PAYMENT_REQUIRED_HEADER, settlement: Object.values(SETTLEMENT_HEADERS) },
    extensions: [...PAYMENT_EXTENSIONS],
    resources,
    receipt: {
      domain: getReceiptDomain(merchant.chainId),
      types: { Receipt: RECEIPT_TYPES.Receipt.map((field) => ({ ...field })) },
      primaryType: 'Receipt',
      signer: commerce.receiptSigner,
      answerHash: 'keccak256 of the RFC 8785 form (UTF-8) of the answer without `payment` and `receipt`; of a skill, of its output',
    },
    again: {
      url: toUrl('/api/svc/commerce/answers'),
      message: buildAnswerMessage('0x', 0).replace('0x:0', '<txHash in lower case>:<timestamp>'),
      days: ANSWER_RETENTION_DAYS,
    },
    mcp: {
      url: toUrl(ENDPOINTS.mcp),
      how: 'Call the tool; the result has the payment requirements; call it again with the payment in _meta["x402/payment"].',
    },
    a2a: {
      card: toUrl(ENDPOINTS.agentCard),
      how: 'Send the message; the task requests input with the payment requirements; send the payment on the same task. The x402 extension of the card has the metadata keys.',
    },
    docs: toUrl('/docs'),
    offerings: toUrl('/api/svc/commerce/offerings'),
  };
}

type ResourceEntry = X402Document['resources'][number];

async function buildOperationEntry(offering: (typeof PAID_RESOURCES)[number], deps: EntryDeps): Promise<ResourceEntry> {
  const { resource, description, example } = offering;
  return {
    ...(await buildTerms(offering, { path: resource.path, description: resource.describe(parseHorizonDays(DEFAULT_HORIZON)) }, deps)),
    method: resource.method,
    description: addForecastTerms(description, deps.forecastTerms),
    input: PAID_INPUT,
    example,
    docs: `${joinUrl(deps.publicUrl, '/docs')}#/signal`,
  };
}

const SOLD_SKILLS = SKILLS.flatMap((skill) => (skill.offering === null ? [] : [{ ...skill, offering: skill.offering }]));

async function buildSkillEntry(
  { id, summary, offering, input, examples }: (typeof SOLD_SKILLS)[number],
  deps: EntryDeps,
): Promise<ResourceEntry> {
  const path = `${ENDPOINTS.skills}/${id}`;
  const [{ input: example }] = examples;
  return {
    ...(await buildTerms(offering, { path, description: summary }, deps)),
    method: 'POST',
    description: addForecastTerms(summary, deps.forecastTerms),
    input: toSkillJsonSchema(input, 'input'),
    example: `POST ${path} ${JSON.stringify(example)}, answered with 402 and the terms; then the same request with PAYMENT-SIGNATURE: <base64 of the payment>`,
    docs: `${joinUrl(deps.publicUrl, '/docs')}#/skills`,
  };
}

async function buildTerms(
  offering: Offering,
  { path, description }: { path: string; description: string },
  { commerce, publicUrl, forecastTerms }: EntryDeps,
) {
  const { title, delivers, evidence, price } = offering;
  const url = joinUrl(publicUrl, path);
  const resource = { url, description: addForecastTerms(description, forecastTerms), mimeType: MIME_TYPE };
  const { requirements, requirementsV1 } = await commerce.sales.describe({ offering, resource });
  return {
    resource: url,
    type: 'http' as const,
    offering: getOfferingId(offering),
    title,
    delivers: [...delivers],
    evidence,
    mimeType: MIME_TYPE,
    price: { usd: formatAmount(price), amount: price.amount.toString(), display: formatMoney(price) },
    x402Version: 2 as const,
    accepts: [requirements],
    v1: { x402Version: 1 as const, accepts: requirementsV1 === null ? [] : [requirementsV1] },
  };
}

/** `/.well-known/x402`, for crawlers. */
export function buildX402Resources({ publicUrl }: Services): z.input<typeof X402_RESOURCES> {
  return {
    version: 1,
    resources: [...PAID_RESOURCES.map(({ resource }) => resource.path), ...SOLD_SKILLS.map(({ id }) => `${ENDPOINTS.skills}/${id}`)].map(
      (path) => joinUrl(publicUrl, path),
    ),
    instructions: `Terms, schemas and receipts: ${joinUrl(publicUrl, ENDPOINTS.x402)}. Read the record and its verdict first, free of charge: ${joinUrl(publicUrl, '/api/svc/scorecard')}.`,
  };
}

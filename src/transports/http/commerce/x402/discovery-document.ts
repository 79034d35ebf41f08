import type { z } from 'zod';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { SKILLS } from '../../../../../skills/index.ts';
import { toSkillJsonSchema } from '../../../../../skills/json-schema.ts';
import { getCaip2Network } from '../../../../commerce/merchant-config.ts';
import { formatAmount, formatMoney, USD_DECIMALS } from '../../../../commerce/money.ts';
import { getOfferingId, type Offering, PAID_RESOURCES } from '../../../../commerce/price-list.ts';
import { getReceiptDomain, RECEIPT_TYPES } from '../../../../commerce/receipts/receipt.ts';
import { buildAnswerMessage } from '../../../../commerce/x402/protocol/answer-message.ts';
import { PAYMENT_EXTENSIONS } from '../../../../commerce/x402/protocol/payment-extensions.ts';
import { buildPaymentQuote } from '../../../../commerce/x402/protocol/payment-quote.ts';
import { ANSWER_RETENTION_DAYS } from '../../../../commerce/x402/sales-service.ts';
import { DEFAULT_HORIZON, parseHorizonDays } from '../../../../forecast/horizon-input.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import type { HttpDeps } from '../../deps.ts';
import { PAYMENT_HEADERS, PAYMENT_REQUIRED_HEADER, SETTLEMENT_HEADERS } from '../../server/payments/payment-headers.ts';
import { PAID_INPUT } from './paid-route.ts';
import type { X402_DOCUMENT, X402_RESOURCES } from './schemas.ts';

type DiscoveryDeps = Pick<HttpDeps, 'commerce' | 'publicUrl'>;
type X402Document = z.input<typeof X402_DOCUMENT>;

const MIME_TYPE = 'application/json';

export function buildX402Document({ commerce, publicUrl }: DiscoveryDeps): X402Document {
  const { merchant, facilitatorUrl: url } = commerce;
  const toUrl = (path: string) => joinUrl(publicUrl, path);
  const deps = { commerce, publicUrl };
  const resources = [
    ...PAID_RESOURCES.map((offering) => buildOperationEntry(offering, deps)),
    ...SOLD_SKILLS.map((skill) => buildSkillEntry(skill, deps)),
  ];
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
    receipt: buildReceiptEntry(commerce),
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

function buildOperationEntry(offering: (typeof PAID_RESOURCES)[number], deps: DiscoveryDeps): ResourceEntry {
  const { name, resource, description, example } = offering;
  return {
    ...buildTerms(offering, { path: resource.path, description: resource.describe(parseHorizonDays(DEFAULT_HORIZON)) }, deps),
    method: resource.method,
    description,
    input: PAID_INPUT,
    example,
    freeHold: name === 'x402_signal' && deps.commerce.freeHold,
    docs: `${joinUrl(deps.publicUrl, '/docs')}#/signal`,
  };
}

const SOLD_SKILLS = SKILLS.flatMap((skill) => (skill.offering === null ? [] : [{ ...skill, offering: skill.offering }]));

function buildSkillEntry(
  { id, summary, offering, input, examples, free }: (typeof SOLD_SKILLS)[number],
  deps: DiscoveryDeps,
): ResourceEntry {
  const path = `${ENDPOINTS.skills}/${id}`;
  const [{ input: example }] = examples;
  return {
    ...buildTerms(offering, { path, description: summary }, deps),
    method: 'POST',
    description: `${summary}. The skill ${id}, with its input as the body.`,
    input: toSkillJsonSchema(input, 'input'),
    example: `POST ${path} ${JSON.stringify(example)}, answered with 402 and the terms; then the same request with PAYMENT-SIGNATURE: <base64 of the payment>`,
    freeHold: free !== undefined && deps.commerce.freeHold,
    docs: `${joinUrl(deps.publicUrl, '/docs')}#/skills`,
  };
}

function buildTerms(
  offering: Offering,
  { path, description }: { path: string; description: string },
  { commerce, publicUrl }: DiscoveryDeps,
) {
  const { title, delivers, evidence, price } = offering;
  const url = joinUrl(publicUrl, path);
  const { requirements, requirementsV1 } = buildPaymentQuote(commerce.merchant, offering, { url, description, mimeType: MIME_TYPE });
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

function buildReceiptEntry({ merchant, receiptSigner }: DiscoveryDeps['commerce']): X402Document['receipt'] {
  return {
    domain: getReceiptDomain(merchant.chainId),
    types: { Receipt: RECEIPT_TYPES.Receipt.map((field) => ({ ...field })) },
    primaryType: 'Receipt',
    signer: receiptSigner,
    answerHash: 'keccak256 of the RFC 8785 form (UTF-8) of the answer without `payment` and `receipt`; of a skill, of its output',
  };
}

/** `/.well-known/x402`, for crawlers. */
export function buildX402Resources({ publicUrl }: Pick<HttpDeps, 'publicUrl'>): z.input<typeof X402_RESOURCES> {
  return {
    version: 1,
    resources: [...PAID_RESOURCES.map(({ resource }) => resource.path), ...SOLD_SKILLS.map(({ id }) => `${ENDPOINTS.skills}/${id}`)].map(
      (path) => joinUrl(publicUrl, path),
    ),
    instructions: `Terms, schemas and receipts: ${joinUrl(publicUrl, ENDPOINTS.x402)}. Read the record and its verdict first, free of charge: ${joinUrl(publicUrl, '/api/svc/scorecard')}.`,
  };
}

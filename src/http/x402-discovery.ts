import type { z } from 'zod';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { IDENTITY } from '../../agent-card/identity.ts';
import { urlAt } from '../../agent-card/url.ts';
import { displayMoney, formatAmount, USD_DECIMALS } from '../commerce/money.ts';
import { offeringId, PAID_RESOURCES } from '../commerce/offerings.ts';
import { RECEIPT_TYPES, receiptDomain } from '../commerce/receipt.ts';
import { networkOf } from '../commerce/till.ts';
import { answerMessage } from '../commerce/x402/answer-message.ts';
import { ANSWERS_KEPT_DAYS } from '../commerce/x402/sale.ts';
import { PAYMENT_IDENTIFIER, termsOf } from '../commerce/x402/terms.ts';
import { DEFAULT_HORIZON, horizonDaysOf } from '../horizon-input.ts';
import { PAID_INPUT } from './paid-route.ts';
import type { HttpParts } from './parts.ts';
import { PROOF_HEADERS, SETTLEMENT_HEADERS, TERMS_HEADER } from './payment-headers.ts';
import type { X402_DOCUMENT, X402_RESOURCES } from './schemas/x402.ts';

type Parts = Pick<HttpParts, 'commerce' | 'publicUrl'>;
type Document = z.input<typeof X402_DOCUMENT>;

const MIME_TYPE = 'application/json';

/** What is paid for with the request, on which terms, and how: `/.well-known/x402.json`. */
export function x402Document({ commerce, publicUrl }: Parts): Document {
  const { till, facilitatorUrl: url } = commerce;
  const at = (path: string) => urlAt(publicUrl, path);
  const resources = PAID_RESOURCES.map((offering) => resourceEntry(offering, { commerce, publicUrl }));
  return {
    success: true,
    version: 1,
    x402Versions: resources.some(({ v1 }) => v1.accepts.length > 0) ? [1, 2] : [2],
    name: IDENTITY.name,
    description: IDENTITY.description,
    chain: networkOf(till),
    network: resources[0]?.v1.accepts[0]?.network ?? null,
    payee: till.payee,
    asset: { address: till.asset, ...till.domain, decimals: USD_DECIMALS },
    realMoney: till.realMoney,
    facilitator: { kind: url === null ? 'in-process' : 'external', url },
    headers: { proof: [...PROOF_HEADERS], terms: TERMS_HEADER, settlement: Object.values(SETTLEMENT_HEADERS) },
    extensions: [PAYMENT_IDENTIFIER],
    resources,
    receipt: receiptEntry(commerce),
    again: {
      url: at('/api/svc/commerce/answers'),
      message: answerMessage('0x', 0).replace('0x:0', '<txHash in lower case>:<timestamp>'),
      days: ANSWERS_KEPT_DAYS,
    },
    mcp: {
      url: at(ENDPOINTS.mcp),
      how: 'Call the tool; the result says what has to be paid; call it again with the payment in _meta["x402/payment"].',
    },
    a2a: {
      card: at(ENDPOINTS.agentCard),
      how: 'Send the message; the task asks for input and says what has to be paid; send the payment on the same task. The x402 extension of the card has its name.',
    },
    docs: at('/docs'),
    offerings: at('/api/svc/commerce/offerings'),
  };
}

function resourceEntry(offering: (typeof PAID_RESOURCES)[number], { commerce, publicUrl }: Parts): Document['resources'][number] {
  const { title, description, delivers, evidence, price, example, name, resource } = offering;
  const url = urlAt(publicUrl, resource.path);
  const described = { url, description: resource.describe(horizonDaysOf(DEFAULT_HORIZON)), mimeType: MIME_TYPE };
  const { requirements, requirementsV1 } = termsOf(commerce.till, offering, described);
  return {
    resource: url,
    type: 'http',
    method: resource.method,
    offering: offeringId(offering),
    ...{ title, description, delivers: [...delivers], evidence, mimeType: MIME_TYPE },
    price: { usd: formatAmount(price), amount: price.amount.toString(), display: displayMoney(price) },
    x402Version: 2,
    accepts: [requirements],
    v1: { x402Version: 1, accepts: requirementsV1 === null ? [] : [requirementsV1] },
    input: PAID_INPUT,
    example,
    freeHold: name === 'x402_signal' && commerce.freeHold,
    docs: `${urlAt(publicUrl, '/docs')}#/signal`,
  };
}

function receiptEntry({ till, receiptSigner }: Parts['commerce']): Document['receipt'] {
  return {
    domain: receiptDomain(till.chainId),
    types: { Receipt: RECEIPT_TYPES.Receipt.map((field) => ({ ...field })) },
    primaryType: 'Receipt',
    signer: receiptSigner,
    answerHash: 'keccak256 of the RFC 8785 form, in UTF-8, of the answer without its members `payment` and `receipt`',
  };
}

/** `/.well-known/x402`: what indexes of paid resources crawl. */
export function x402Resources({ publicUrl }: Pick<HttpParts, 'publicUrl'>): z.input<typeof X402_RESOURCES> {
  return {
    version: 1,
    resources: PAID_RESOURCES.map(({ resource }) => urlAt(publicUrl, resource.path)),
    instructions: `Terms, schemas and receipts: ${urlAt(publicUrl, ENDPOINTS.x402)}. The record and its verdict are free: ${urlAt(publicUrl, '/api/svc/scorecard')}. Read them first.`,
  };
}

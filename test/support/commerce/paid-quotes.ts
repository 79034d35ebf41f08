import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../agent-card/identity.ts';
import { SKILLS } from '../../../skills/index.ts';
import { createPaidCalls } from '../../../skills/paid-call.ts';
import type { MerchantConfig } from '../../../src/commerce/merchant-config.ts';
import { PAID_RESOURCES } from '../../../src/commerce/price-list.ts';
import { createOfferSigner } from '../../../src/commerce/receipts/offer-receipt-signer.ts';
import {
  buildPaymentQuote,
  createPaymentRequired,
  type PaymentQuote,
  type PaymentRequired,
  PaymentRequiredError,
} from '../../../src/commerce/x402/protocol/payment-quote.ts';
import { type SalesDeps, SalesService } from '../../../src/commerce/x402/sales-service.ts';
import { joinUrl } from '../../../src/platform/service-url.ts';
import { declareSkillOperation } from '../../../src/transports/http/agent/skills/skill-listing.ts';
import { paidRoutes } from '../../../src/transports/http/commerce/x402/paid-routes.ts';
import { getToolListing } from '../../../src/transports/mcp/tools/tool-listing.ts';

const ADDRESS = '0x00000000000000000000000000000000000000cc';
export const PUBLIC_URL = 'https://oracle.example.org/base';

export const MERCHANT: MerchantConfig = {
  chainId: 8453,
  asset: ADDRESS,
  payee: ADDRESS,
  domain: { name: 'USD Coin', version: '2' },
  realMoney: false,
  publicUrl: PUBLIC_URL,
  service: { serviceName: IDENTITY.name, tags: [...IDENTITY.topics], iconUrl: `${PUBLIC_URL}/icon.svg` },
};

export interface PaidQuote {
  /** Operation or tool. */
  name: string;
  transport: 'http' | 'mcp';
  quote: PaymentQuote;
  required: PaymentRequired;
}

// A quote needs neither chain nor database.
const sales = new SalesService({
  merchant: MERCHANT,
  requireOpen: () => undefined,
  signOffer: createOfferSigner(privateKeyToAccount(generatePrivateKey())),
  now: () => new Date(),
} as unknown as SalesDeps);

/** What every paid operation and every paid tool of MCP asks for, by the code that answers their requests. */
export async function listPaidQuotes(): Promise<PaidQuote[]> {
  const routes = paidRoutes({ commerce: { sales }, publicUrl: PUBLIC_URL } as never).filter(({ access }) => access === 'paid');
  const quotes = await Promise.all(
    routes.map(async (route) => ({ name: route.name, transport: 'http' as const, quote: await quoteOf(route) })),
  );
  const { quote } = createPaidCalls({ sales, runSkill: undefined as never, toUrl: (path) => joinUrl(PUBLIC_URL, path) });
  const tools = SKILLS.filter(({ offering }) => offering !== null).map((skill) => ({
    ...{ name: skill.id, transport: 'mcp' as const },
    quote: quote(skill, ENDPOINTS.mcp, getToolListing(skill)),
  }));
  const operations = SKILLS.filter(({ offering }) => offering !== null).map((skill) => ({
    ...{ name: `POST ${skill.id}`, transport: 'http' as const },
    quote: quote(skill, `${ENDPOINTS.skills}/${skill.id}`, declareSkillOperation(skill)),
  }));
  return [...quotes, ...operations, ...tools].map((one) => ({ ...one, required: createPaymentRequired(one.quote, 'payment_required') }));
}

async function quoteOf({ handle }: ReturnType<typeof paidRoutes>[number]): Promise<PaymentQuote> {
  const request = { query: { horizon: 7 }, context: { address: '192.0.2.1' }, header: () => undefined, isHead: false };
  try {
    await handle(request as never);
  } catch (error) {
    if (error instanceof PaymentRequiredError) return error.quote;
    throw error;
  }
  throw new Error('the operation answered without a payment');
}

/** A quote without a listing. */
export const plainQuote = (): PaymentQuote =>
  buildPaymentQuote(MERCHANT, PAID_RESOURCES[0]!, { url: `${PUBLIC_URL}/oracle`, description: 'Signal', mimeType: 'application/json' });

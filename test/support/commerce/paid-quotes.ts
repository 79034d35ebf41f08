import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ENDPOINTS, IDENTITY } from '../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../skills/index.ts';
import { createPaidCalls } from '../../../skills/runner.ts';
import { createForecastTerms, type MerchantConfig, PAID_RESOURCES } from '../../../src/commerce/offerings.ts';
import { createOfferSigner } from '../../../src/commerce/receipt-signer.ts';
import { type SalesDeps, SalesService } from '../../../src/commerce/x402/sales.ts';
import { createPaymentRequired, type PaymentQuote, type PaymentRequired, PaymentRequiredError } from '../../../src/commerce/x402/terms.ts';
import type { Context } from '../../../src/context.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { paidRoutes } from '../../../src/http/routes/paid.ts';
import { declareSkillOperation } from '../../../src/http/routes/skills.ts';
import { getToolListing } from '../../../src/mcp/tools.ts';
import { joinUrl } from '../../../src/platform/service-client.ts';
import { quoteResource } from './quote.ts';

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

/** The longest text. */
const COUNTS = { days: 90, buy: 0, sell: 0, hold: 90, up: 90, down: 0, sameAsDayBefore: 1 };
const CALLS = { days30: COUNTS, days90: COUNTS, days365: COUNTS, all: COUNTS };

// A quote needs neither chain nor database.
export const sales = new SalesService({
  merchant: MERCHANT,
  requireOpen: () => undefined,
  readForecastTerms: createForecastTerms({
    figures: { getHorizons: async () => HORIZONS.map(() => ({ revealedCalls: CALLS })) as never },
    now: () => new Date(),
  } as unknown as Context),
  signOffer: createOfferSigner(privateKeyToAccount(generatePrivateKey())),
  now: () => new Date(),
} as unknown as SalesDeps);

/** What every paid operation and every paid tool of MCP asks for, by the code that answers their requests. */
export async function listPaidQuotes(): Promise<PaidQuote[]> {
  const paidCalls = createPaidCalls({ sales, runSkill: undefined as never, toUrl: (path) => joinUrl(PUBLIC_URL, path) });
  const routes = paidRoutes({ paidCalls, commerce: { sales }, publicUrl: PUBLIC_URL } as never).filter(({ access }) => access === 'paid');
  const quotes = await Promise.all(
    routes.map(async (route) => ({ name: route.name, transport: 'http' as const, quote: await quoteOf(route) })),
  );
  const { quote } = paidCalls;
  const sold = SKILLS.filter(({ offering }) => offering !== null);
  const tools = sold.map(async (skill) => ({
    ...{ name: skill.id, transport: 'mcp' as const },
    quote: await quote({ call: { skill, offering: skill.offering }, endpoint: ENDPOINTS.mcp, bazaar: getToolListing(skill) }),
  }));
  const operations = sold.map(async (skill) => ({
    ...{ name: `POST ${skill.id}`, transport: 'http' as const },
    quote: await quote({
      call: { skill, offering: skill.offering },
      endpoint: `${ENDPOINTS.skills}/${skill.id}`,
      bazaar: declareSkillOperation(skill),
    }),
  }));
  return [...quotes, ...(await Promise.all([...operations, ...tools]))].map((one) => ({
    ...one,
    required: createPaymentRequired(one.quote, 'payment_required'),
  }));
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
export const plainQuote = (): Promise<PaymentQuote> =>
  quoteResource(MERCHANT, PAID_RESOURCES[0]!, { url: `${PUBLIC_URL}/oracle`, description: 'Signal', mimeType: 'application/json' });

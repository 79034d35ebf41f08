import type { MerchantConfig, Offering } from '../../../src/commerce/offerings.ts';
import { createResourceServer } from '../../../src/commerce/x402/facilitator.ts';
import { buildPaymentQuote, type PaymentQuote, type ResourceInfo } from '../../../src/commerce/x402/terms.ts';

/** The quote of a resource, without a listing. */
export async function quoteResource(merchant: MerchantConfig, offering: Offering, resource: ResourceInfo): Promise<PaymentQuote> {
  return buildPaymentQuote(await createResourceServer(merchant), merchant, { offering, resource });
}

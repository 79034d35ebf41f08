import { createRequire } from 'node:module';
import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allRoutes } from '../../../src/http/routes.ts';
import { createListener } from '../../../src/http/server.ts';
import { demoWallets } from '../../support/auth/login.ts';
import { readHeader } from '../../support/commerce/payments.ts';
import { findFreePort, type Served, serveApp } from '../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: what is read is what is tested
type Untyped = any;

interface OfferReceipt {
  extractOffersFromPaymentRequired(required: Untyped): Untyped[];
  decodeSignedOffers(offers: Untyped[]): Untyped[];
  findAcceptsObjectFromSignedOffer(offer: Untyped, accepts: Untyped[]): Untyped;
  verifyOfferSignatureEIP712(offer: Untyped): Promise<{ signer: string; payload: Untyped }>;
  extractReceiptFromResponse(response: Response): Untyped;
  verifyReceiptSignatureEIP712(receipt: Untyped): Promise<{ signer: string; payload: Untyped }>;
  verifyReceiptMatchesOffer(receipt: Untyped, offer: Untyped, payers: string[]): boolean;
}

// Not imported, because the type checker runs without the packages of this folder.
const load = createRequire(import.meta.url);
const offerReceipt = load('@x402/extensions/offer-receipt') as OfferReceipt;

let service: TestService;
let served: Served;

beforeAll(async () => {
  const port = await findFreePort();
  service = await unresolvedService(2, { PUBLIC_URL: `http://127.0.0.1:${port}` });
  service.progress.complete();
  served = await serveApp(createListener(allRoutes(service.http), service.appOptions), { port });
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const buyer = () => demoWallets(service).buyer;
const url = (horizon: string) => `${served.url}/oracle/premium?horizon=${horizon}`;

function payingFetch(over: typeof fetch): typeof fetch {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer())).setSpendControls({ allowedAssets: true });
  return wrapFetchWithPayment(over, client) as typeof fetch;
}

describe('the official client of offer-receipt', () => {
  it('verifies the offer of a 402, and that the receipt of its payment is by the same signer, for the same sale', async () => {
    const required = readHeader((await fetch(url('7d'))).headers.get('PAYMENT-REQUIRED'));
    const [offer] = offerReceipt.decodeSignedOffers(offerReceipt.extractOffersFromPaymentRequired(required));
    expect(offerReceipt.findAcceptsObjectFromSignedOffer(offer, required.accepts)).toEqual(required.accepts[0]);
    const { signer } = await offerReceipt.verifyOfferSignatureEIP712(offer.signedOffer);
    expect(signer).toBe(service.http.commerce.receiptSigner);
    const response = await payingFetch(fetch)(url('7d'));
    const receipt = offerReceipt.extractReceiptFromResponse(response);
    const { payment } = (await response.json()) as Untyped;
    expect(await offerReceipt.verifyReceiptSignatureEIP712(receipt)).toMatchObject({ signer, payload: { transaction: payment.txHash } });
    expect(offerReceipt.verifyReceiptMatchesOffer(receipt, offer, [buyer().address])).toBe(true);
    expect(offerReceipt.verifyReceiptMatchesOffer(receipt, offer, [demoWallets(service).poor.address])).toBe(false);
    const forged = { ...receipt, payload: { ...receipt.payload, payer: demoWallets(service).poor.address } };
    expect((await offerReceipt.verifyReceiptSignatureEIP712(forged)).signer).not.toBe(signer);
  });
});

import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { PAYING_CALLER } from '../../src/auth/caller.ts';
import { findOffering } from '../../src/commerce/offerings.ts';
import { readPrediction } from '../../src/record/prediction.ts';
import type { TestService } from '../../test/support/service/service.ts';

/** Packages of this folder, installed by the benchmark: the project itself does not need them. */
const requireHere = createRequire(import.meta.url);

const HORIZON_DAYS = 7;

/** Serves the signal for the same price behind `@x402/express`, and returns the address of the paid resource. */
export async function serveStock(http: TestService['http'], facilitatorUrl: string): Promise<string> {
  const { paymentMiddleware, x402ResourceServer } = requireHere('@x402/express');
  const { HTTPFacilitatorClient } = requireHere('@x402/core/server');
  const { ExactEvmScheme } = requireHere('@x402/evm/exact/server');
  const express = requireHere('express');
  const offering = findOffering('x402', 'x402_signal')!;
  const resource = { url: `${http.publicUrl}/oracle`, description: 'Signal', mimeType: 'application/json' };
  const { requirements } = await http.commerce.sales.describe({ offering, resource });
  const { scheme, network, asset, amount, payTo, extra, maxTimeoutSeconds } = requirements;
  const accepts = { scheme, network, payTo, maxTimeoutSeconds, price: { asset, amount, extra } };
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl })).register(network, new ExactEvmScheme());
  const app = express();
  app.use(paymentMiddleware({ 'GET /oracle': { accepts, ...resource } }, server));
  app.get('/oracle', async (_request: unknown, response: { json(body: object): void }) => {
    response.json({ success: true, ...(await readPrediction(http, HORIZON_DAYS, PAYING_CALLER)) });
  });
  const listening = await new Promise<Server>((done) => {
    const opened: Server = app.listen(0, '127.0.0.1', () => done(opened));
  });
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/oracle`;
}

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createWalletClient, defineChain, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { answerParent } from '../lib.ts';

export interface FacilitatorChain {
  rpcUrl: string;
  chainId: number;
  key: Hex;
  /** Time between blocks; unset: every transaction has a block at once. */
  blockMs?: number;
}

/** How often the receipt of a settlement is read; a local chain mines at once. */
const POLLING_INTERVAL_MS = 5;

let facilitator: x402Facilitator | null = null;

/** The stock facilitator of the protocol over HTTP. */
const server = createServer(async (request, response) => {
  const result = await handle(request).catch((error: unknown) => ({ error: String(error) }));
  response.writeHead('error' in result ? 500 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));

async function handle(request: IncomingMessage): Promise<object> {
  if (facilitator === null) throw new Error('the facilitator has no chain yet');
  if (request.url === '/supported') return facilitator.getSupported();
  type Body = { paymentPayload: Parameters<x402Facilitator['verify']>[0]; paymentRequirements: Parameters<x402Facilitator['verify']>[1] };
  const { paymentPayload, paymentRequirements } = (await json(request)) as Body;
  if (request.url === '/verify') return facilitator.verify(paymentPayload, paymentRequirements);
  return facilitator.settle(paymentPayload, paymentRequirements);
}

/** Holds a transaction back until the next block of a chain that has one every `blockMs`. */
async function waitForBlock({ body }: RequestInit, blockMs: number | undefined): Promise<undefined> {
  if (blockMs !== undefined && String(body).includes('eth_sendRawTransaction')) await delay(blockMs - (Date.now() % blockMs));
}

const answers = {
  url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** Settles on this chain from now on. */
  connect({ rpcUrl, chainId, key, blockMs }: FacilitatorChain) {
    const chain = defineChain({
      id: chainId,
      name: 'local',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    });
    const account = privateKeyToAccount(key);
    const transport = http(rpcUrl, { onFetchRequest: (_, init) => waitForBlock(init, blockMs) });
    const wallet = createWalletClient({ account, chain, transport, pollingInterval: POLLING_INTERVAL_MS });
    const client = wallet.extend(publicActions);
    const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as unknown as Parameters<
      typeof toFacilitatorEvmSigner
    >[0]);
    facilitator = new x402Facilitator().register(`eip155:${chainId}`, new ExactEvmScheme(signer));
  },
};

export type FacilitatorAnswers = typeof answers;

answerParent(answers);

import { x402Client } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { createPublicClient, http, type LocalAccount, parseAbi } from 'viem';
import type { TestService } from '../service/service.ts';
import type { SignedPayment } from './x402.ts';

const tokenAbi = parseAbi(['function balanceOf(address account) view returns (uint256)']);

/** The official client of version 2, for the stablecoin of a local chain. */
export function officialClient(account: LocalAccount): x402Client {
  return new x402Client().register('eip155:*', new ExactEvmScheme(account)).setSpendControls({ allowedAssets: true });
}

/** `fetch` that pays by itself, as users of the official package have it. */
export function payingFetch(account: LocalAccount): typeof fetch {
  return wrapFetchWithPayment(fetch, officialClient(account)) as typeof fetch;
}

/** The same payment as a client of version 1 sends it. */
export function inV1({ payload }: SignedPayment) {
  return { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload };
}

const ADDRESS = `0x${'11'.repeat(20)}`;
const WORD = `0x${'22'.repeat(32)}`;

/** Of a known form, for nothing that is sold. */
export const UNSOLD_PAYMENT = {
  x402Version: 2,
  accepted: { scheme: 'exact', network: 'eip155:84532', amount: '1', asset: ADDRESS, payTo: ADDRESS, maxTimeoutSeconds: 300 },
  payload: {
    signature: `0x${'33'.repeat(65)}`,
    authorization: { from: ADDRESS, to: ADDRESS, value: '1', validAfter: '0', validBefore: '1', nonce: WORD },
  },
};

/** What a header of the protocol holds. */
// biome-ignore lint/suspicious/noExplicitAny: what is read is what is tested
export function readHeader(value: string | null | undefined): any {
  return value == null ? null : JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
}

export function asHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Units of the stablecoin that a wallet has. */
export function stablecoins({ infrastructure, chain: { addresses } }: TestService) {
  const client = createPublicClient({ transport: http(infrastructure.rpcUrl) });
  return (account: `0x${string}`) =>
    client.readContract({ address: addresses.stablecoin, abi: tokenAbi, functionName: 'balanceOf', args: [account] });
}

/** Makes the newest 7-day forecast of a service read as this signal while `work` runs. */
export async function withSignal<T>(
  { pipeline }: { pipeline: { record: Pick<TestService['pipeline']['record'], 'forecasts'> } },
  signal: 'BUY' | 'SELL' | 'HOLD',
  work: () => Promise<T>,
): Promise<T> {
  const { forecasts } = pipeline.record;
  const [newest] = await forecasts.find({ horizonDays: 7 }).sort({ sequence: -1 }).limit(1).toArray();
  const before = newest!.values!.signal;
  const write = (text: string) => forecasts.updateOne({ _id: newest!._id }, { $set: { 'values.signal': text as 'BUY' } });
  await write(signal);
  try {
    return await work();
  } finally {
    await write(before);
  }
}

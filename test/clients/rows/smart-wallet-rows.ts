import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig, type x402ClientConfig } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Bought, INTERFACES } from '../../../examples/clients/catalog.ts';
import { smartWallet } from '../../support/chain/smart-wallet.ts';
import { createKeyPayer } from '../world/payers.ts';
import type { Payer, World } from '../world/world.ts';
import { OBSERVED } from './observed.ts';
import type { Row } from './row.ts';

/** A wallet of the chain's factory, which its payment deploys (ERC-6492), by the version of `@x402/fetch` that the project has. */
export function listSmartWalletRows(): Row[] {
  return (['premium', 'signal'] as const).map((name) => ({
    client: '@x402/fetch, wallet not deployed',
    interface: INTERFACES[name].title,
    notApplicable: {},
    ...OBSERVED[name],
    createPayer: createSmartWalletPayer,
    buy: ({ wire }, payer) => buy(INTERFACES[name].order(wire.url).url, payer as SmartWalletPayer),
  }));
}

type Signer = ConstructorParameters<typeof ExactEvmScheme>[0];

interface SmartWalletPayer extends Payer {
  signer: Signer;
}

async function createSmartWalletPayer(world: World, units: bigint): Promise<SmartWalletPayer> {
  const { privateKey } = await createKeyPayer({ fund: async () => undefined }, 0n);
  const owner = privateKeyToAccount(privateKey);
  const { address, wrap } = await smartWallet(createPublicClient({ transport: http(world.demo.rpcUrl) }), owner.address);
  const signTypedData: Signer['signTypedData'] = async (message) => wrap(await owner.signTypedData(message as never));
  const payer = { privateKey, address, funds: units, signer: { address, signTypedData } };
  await world.fund(payer);
  return payer;
}

async function buy(url: string, { signer }: SmartWalletPayer): Promise<Bought> {
  const schemes = [{ network: 'eip155:84532', client: new ExactEvmScheme(signer) }] as x402ClientConfig['schemes'];
  const response = await wrapFetchWithPaymentFromConfig(fetch, { schemes })(url, { method: 'GET' });
  const answer = (await response.json()) as Bought['answer'];
  if (!response.ok) throw new Error(`${response.status}: ${String(answer.detail)}`);
  const header = response.headers.get('PAYMENT-RESPONSE');
  return { answer, settlement: header === null ? null : decodePaymentResponseHeader(header) };
}

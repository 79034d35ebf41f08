import { type Address, createWalletClient, defineChain, http, type LocalAccount } from 'viem';

/** Makes the account of a key run the code of a contract (EIP-7702); another account sends the transaction. */
export async function delegateTo(
  contract: Address,
  { rpcUrl, chainId, key, sender }: { rpcUrl: string; chainId: number; key: LocalAccount; sender: LocalAccount },
): Promise<void> {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = defineChain({ id: chainId, name: 'local', nativeCurrency, rpcUrls: { default: { http: [rpcUrl] } } });
  const client = createWalletClient({ account: sender, chain, transport: http(rpcUrl) });
  const authorization = await client.signAuthorization({ account: key, contractAddress: contract });
  await client.sendTransaction({ authorizationList: [authorization], to: key.address, gas: 200_000n });
}

import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { callJsonRpc, sendTransactions } from '../../../src/dev/local-chain/contracts.ts';
import type { TestService } from '../service/service.ts';
import { type DemoWallet, demoWallets } from './login.ts';

/** Moves all gate tokens of a demonstration wallet to another; returns the function that moves them back. */
export async function moveGateTokens(service: TestService, from: DemoWallet, to: DemoWallet): Promise<() => Promise<void>> {
  const wallets = demoWallets(service);
  const { rpcUrl, contracts } = service.infrastructure;
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [wallets[from].address] });
  const amount = BigInt(await callJsonRpc<Hex>(rpcUrl, 'eth_call', { to: contracts.gateToken, data: call }, 'latest'));
  const move = async (sender: PrivateKeyAccount, receiver: PrivateKeyAccount) => {
    await callJsonRpc(rpcUrl, 'anvil_setBalance', sender.address, '0x56bc75e2d63100000');
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [receiver.address, amount] });
    await sendTransactions(rpcUrl, sender, [{ to: contracts.gateToken!, data }]);
  };
  await move(wallets[from], wallets[to]);
  return () => move(wallets[to], wallets[from]);
}

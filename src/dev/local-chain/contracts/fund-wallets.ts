import { type Address, encodeFunctionData, type Hex, type LocalAccount, numberToHex, parseAbi, parseEther } from 'viem';
import type { ChainAddresses } from '../../../chain/addresses.ts';
import { callJsonRpc } from '../json-rpc.ts';
import { type LocalTransaction, sendTransactions } from './send-transactions.ts';

export type DemoWallets = Record<'basic' | 'premium' | 'poor' | 'buyer', Address>;

/** Tier thresholds, in 10^-18 tokens. */
const BASIC_BALANCE = 500_000_000n * 10n ** 18n;
const PREMIUM_BALANCE = 1_000_000_000n * 10n ** 18n;
/** 1,000 coins of 6 decimals. */
const STABLECOIN_BALANCE = 1_000_000_000n;
/** Enough for the transactions of decades. */
const GAS_BALANCE = parseEther('10000');

const abi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function mint(address to, uint256 value)',
]);

export async function fundGas(rpcUrl: string, addresses: Address[]): Promise<void> {
  await Promise.all(addresses.map((address) => callJsonRpc(rpcUrl, 'anvil_setBalance', address, numberToHex(GAS_BALANCE))));
}

/** Tops up, so it can be repeated after a crash. */
export async function fundDemoWallets(
  rpcUrl: string,
  deployer: LocalAccount,
  { addresses, wallets }: { addresses: ChainAddresses; wallets: DemoWallets },
): Promise<void> {
  const { gateToken, stablecoin } = addresses;
  await fundGas(rpcUrl, Object.values(wallets));
  const calls = await Promise.all([
    buildTopUp(rpcUrl, gateToken, { functionName: 'transfer', to: wallets.basic, target: BASIC_BALANCE }),
    buildTopUp(rpcUrl, gateToken, { functionName: 'transfer', to: wallets.premium, target: PREMIUM_BALANCE }),
    buildTopUp(rpcUrl, stablecoin, { functionName: 'mint', to: wallets.buyer, target: STABLECOIN_BALANCE }),
  ]);
  await sendTransactions(rpcUrl, deployer, calls.flat());
}

interface TopUp {
  functionName: 'transfer' | 'mint';
  to: Address;
  target: bigint;
}

async function buildTopUp(rpcUrl: string, token: Address, { functionName, to, target }: TopUp): Promise<LocalTransaction[]> {
  const data = encodeFunctionData({ abi, functionName: 'balanceOf', args: [to] });
  const missing = target - BigInt(await callJsonRpc<Hex>(rpcUrl, 'eth_call', { to: token, data }, 'latest'));
  return missing > 0n ? [{ to: token, data: encodeFunctionData({ abi, functionName, args: [to, missing] }) }] : [];
}

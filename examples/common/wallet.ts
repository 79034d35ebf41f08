import { readFileSync } from 'node:fs';
import { type Address, createPublicClient, createWalletClient, type Hex, http, type PublicClient, publicActions } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/** Throw-away keys that `npm start` writes for trying the service on its local chain. */
interface Demo {
  rpcUrl: string;
  contracts: { stablecoin: Address };
  wallets: Record<'basic' | 'premium' | 'buyer', { privateKey: Hex }>;
}

/** The wallet of PRIVATE_KEY, or where that is unset a demonstration wallet. */
export function walletOf(name: keyof Demo['wallets']): PrivateKeyAccount {
  return privateKeyToAccount((process.env.PRIVATE_KEY as Hex) || demo().wallets[name].privateKey);
}

/** The only coin that a wallet here pays in, whatever a service asks for: STABLECOIN, or that of the local chain. */
export function ownCoin(): Address {
  return (process.env.STABLECOIN as Address) || demo().contracts.stablecoin;
}

/** The chain, for reading: a node of your own choice in RPC_URL, or the local one. */
export function openChain(): PublicClient {
  return createPublicClient({ transport: http(rpcUrl()) });
}

/** The chain for a wallet that sends transactions. */
export function openWallet(account: PrivateKeyAccount) {
  return createWalletClient({ account, transport: http(rpcUrl()), pollingInterval: 200 }).extend(publicActions);
}

function rpcUrl(): string {
  return process.env.RPC_URL || demo().rpcUrl;
}

function demo(): Demo {
  const path = `${process.env.DATA_DIR || 'data'}/demo.json`;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Demo;
  } catch {
    throw new Error(`${path} cannot be read. Run npm start first, set DATA_DIR to its folder, or set PRIVATE_KEY, RPC_URL and STABLECOIN`);
  }
}

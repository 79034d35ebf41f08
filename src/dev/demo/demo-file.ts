import type { Address, Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import type { ChainAddresses } from '../../chain/addresses.ts';
import { damagedPartError } from '../../platform/data-dir/entries.ts';
import type { DemoWallets } from '../local-chain/contracts/fund-wallets.ts';
import type { LocalKeys } from './local-keys.ts';

const address = z.string().transform((text) => text as Address);

const DemoFile = z.object({
  rpcUrl: z.url(),
  chainId: z.number().int(),
  /** For other processes on the same folder; absent with MONGODB_URI. */
  mongodbUri: z.string().optional(),
  contracts: z.object({
    eas: address,
    schemaRegistry: address,
    gateToken: address,
    stablecoin: address,
    identityRegistry: address,
    reputationRegistry: address,
    agentCommerce: address.nullable().default(null),
  }),
  wallets: z.record(z.string(), z.object({ address, privateKey: z.string().transform((text) => text as Hex) })),
});

export type DemoFile = z.infer<typeof DemoFile>;

export const DEMO_WALLETS = ['basic', 'premium', 'poor', 'buyer'] as const satisfies (keyof DemoWallets)[];

export function deriveDemoWallets(keys: LocalKeys): DemoWallets {
  const addressOf = (name: keyof DemoWallets) => privateKeyToAccount(keys[name]).address;
  return { basic: addressOf('basic'), premium: addressOf('premium'), poor: addressOf('poor'), buyer: addressOf('buyer') };
}

export interface DemoFileSource {
  rpcUrl: string;
  chainId: number;
  mongodbUri?: string;
  contracts: ChainAddresses;
  keys: LocalKeys;
}

export function buildDemoFile({ keys, ...rest }: DemoFileSource): DemoFile {
  const wallets = deriveDemoWallets(keys);
  return {
    ...rest,
    wallets: Object.fromEntries(DEMO_WALLETS.map((name) => [name, { address: wallets[name], privateKey: keys[name] }])),
  };
}

/** @throws OracleError DATA_DIR_DAMAGED for an invalid file */
export function parseDemoFile(value: unknown): DemoFile {
  const parsed = DemoFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw damagedPartError('demo.json of the data folder does not hold what it should');
}

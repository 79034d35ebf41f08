import { z } from 'zod';
import { BASE_CHAIN_ID, LOCAL_CHAIN_ID } from '../chain-ids.ts';
import { addressSchema, integerSetting, type SettingDefinitions, serviceUrlSchema, urlSetting } from './define.ts';

export const CHAIN_SETTINGS = {
  CHAIN_RPC_URL: {
    schema: urlSetting(/^https?$/, 'an http(s) URL').optional(),
    secret: true,
    description:
      'JSON-RPC endpoint of the chain, a real one unless `CHAIN_LOCAL` is `1`, wherever its node runs; unset: a local chain in `DATA_DIR`',
  },
  CHAIN_LOCAL: {
    schema: z.enum(['0', '1']),
    default: '0',
    description:
      '`1`: `CHAIN_RPC_URL` is the local chain of another process on `DATA_DIR`, whose throw-away keys sign; refused for another machine',
  },
  PUBLIC_RPC_URL: {
    schema: serviceUrlSchema.optional(),
    description:
      'Public JSON-RPC endpoint of a real chain for verifiers, without a key in it; unset: `https://mainnet.base.org` on chain 8453, none elsewhere',
  },
  CHAIN_ID: {
    schema: integerSetting(1, 2 ** 31 - 1).optional(),
    description: `Chain id that the endpoint must report; unset: ${BASE_CHAIN_ID} on a real chain. The local chain has ${LOCAL_CHAIN_ID}`,
  },
  CONFIRMATIONS: {
    schema: integerSetting(1, 1_000).optional(),
    description: 'Confirmation depth in blocks; unset: 1 on a local chain, 5 on a real one',
  },
  SALT_SECRET: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    secret: true,
    requiredOnRealChain: true,
    description: 'Master secret of all commitment salts; keep it as long as the record',
  },
  ENCRYPTION_SECRET: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    secret: true,
    requiredOnRealChain: true,
    description: 'Master secret that encrypts signing keys and webhook secrets in the database',
  },
  GATE_TOKEN_ADDRESS: {
    schema: addressSchema.optional(),
    requiredOnRealChain: true,
    description: 'Gate token, an ERC-20 whose balance determines the tier',
  },
  STABLECOIN_ADDRESS: { schema: addressSchema.optional(), requiredOnRealChain: true, description: 'EIP-3009 stablecoin of payments' },
  IDENTITY_REGISTRY_ADDRESS: {
    schema: addressSchema.optional(),
    requiredOnRealChain: true,
    description: 'ERC-8004 identity registry; on Base `0x8004A169FB4a3325136EB29fA0ceB6D2e539a432`',
  },
  REPUTATION_REGISTRY_ADDRESS: {
    schema: addressSchema.optional(),
    requiredOnRealChain: true,
    description: 'ERC-8004 reputation registry; on Base `0x8004BAa17C55a88189AE136b182e5fdA19dE9b63`',
  },
} satisfies SettingDefinitions;

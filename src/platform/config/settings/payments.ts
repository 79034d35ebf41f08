import { z } from 'zod';
import { addressListSchema, addressSchema, integerSetting, privateKeySchema, type SettingDefinitions, serviceUrlSchema } from './define.ts';

export const PAYMENT_SETTINGS = {
  FACILITATOR_PRIVATE_KEY: {
    schema: privateKeySchema.optional(),
    secret: true,
    description:
      'Key of the wallet that sends x402 payments to the chain and pays their gas; required on a real chain unless `X402_FACILITATOR_URL` is set',
  },
  PROVIDER_PRIVATE_KEY: {
    schema: privateKeySchema.optional(),
    secret: true,
    requiredOnRealChain: true,
    description: 'Key of the wallet that signs receipts and takes jobs of the agent commerce protocol',
  },
  PAYEE_ADDRESS: {
    schema: addressSchema.refine((text) => !/^0x0+$/.test(text), 'must not be the zero address: what it gets is burned').optional(),
    requiredOnRealChain: true,
    description: "Wallet that x402 payments and purchases go to; unset on a local chain: the provider's",
  },
  X402_FACILITATOR_URL: {
    // Everybody reads it in the terms.
    schema: serviceUrlSchema.optional(),
    description: 'x402 facilitator that verifies and settles payments; unset: this process does, with `FACILITATOR_PRIVATE_KEY`',
  },
  CHAIN_CURRENCY_USD: {
    schema: integerSetting(1, 10_000_000).optional(),
    description:
      "Dollars of one unit of the chain's own currency (ether on Base), to weigh settlement gas against prices; unset: 10000 on a real chain, which admits fewer contract wallets than a true price, and no bound by price on a local one",
  },
  X402_MAX_GAS_CENTS: {
    schema: integerSetting(1, 10_000),
    default: '10',
    description:
      'Cents of gas that settling one payment may cost; dearer ones wait for lower fees. Payments of contract wallets never cost more gas than they bring',
  },
  X402_FREE_HOLD: {
    schema: z.enum(['on', 'off']),
    default: 'on',
    description:
      '`on`: `GET /oracle` settles nothing when the forecast is HOLD, and says so, which also tells whoever watches the chain that a settled one was none; `off`: a HOLD is paid for like any other',
  },
  PURCHASE_SIGNATURE: {
    schema: z.enum(['optional', 'required']).optional(),
    description:
      "Whether a purchase needs the buyer's signature, since everybody can read the transfer on chain; unset: `optional` on a local chain, `required` on a real one",
  },
  AGENT_COMMERCE_ADDRESS: {
    schema: addressSchema.optional(),
    description:
      'ERC-8183 contract whose jobs are taken; on Base `0x238E541BfefD82238730D00a2208E5497F1832E0`; unset: its own on a local chain, none on a real one',
  },
  AGENT_COMMERCE_EVALUATORS: {
    schema: addressListSchema.optional(),
    description: 'Evaluators whose jobs are taken at any price, separated by commas; unset: none',
  },
  AGENT_COMMERCE_MAX_USD: {
    schema: integerSetting(0, 1_000_000).optional(),
    description:
      'Most that a job may cost whose evaluator is not among those, whole dollars: he can read what he is given and reject it, for gas alone; unset: 5 on a local chain, 0 on a real one, which takes none',
  },
} satisfies SettingDefinitions;

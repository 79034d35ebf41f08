import { z } from 'zod';
import { parseApiKeySecret } from '../../secrets/api-key.ts';
import { addressListSchema, addressSchema, hashListSchema, integerSetting, type SettingDefinitions, serviceUrlSchema } from './define.ts';

export const PAYMENT_SETTINGS = {
  PAYEE_ADDRESS: {
    schema: addressSchema.refine((text) => !/^0x0+$/.test(text), 'must not be the zero address: what it gets is burned').optional(),
    requiredOnRealChain: true,
    description: "Wallet that receives x402 payments and purchases; unset on a local chain: the provider's",
  },
  X402_FACILITATOR_URL: {
    // Public in payment quotes.
    schema: serviceUrlSchema.optional(),
    description: 'x402 facilitator that verifies and settles payments; unset: this process, with the wallet of the facilitator',
  },
  CDP_API_KEY_ID: {
    schema: z
      .string()
      .regex(/^[\w/-]{8,256}$/, 'must be the id or name of an API key')
      .optional(),
    secret: true,
    description:
      'Secret API key of the Coinbase Developer Platform that authenticates requests to `X402_FACILITATOR_URL`, set with `CDP_API_KEY_SECRET`; unset: requests carry no key',
  },
  CDP_API_KEY_SECRET: {
    schema: z
      .string()
      .refine((text) => parseApiKeySecret(text) !== null, 'must be base64 of the 64 bytes of an Ed25519 key, or a P-256 key as PEM')
      .optional(),
    secret: true,
    description: 'Its secret: base64 (Ed25519), or PEM (ECDSA), whose line ends may be written `\\n`',
  },
  CHAIN_CURRENCY_USD: {
    schema: integerSetting(1, 10_000_000).optional(),
    description:
      "Price of the chain's native currency (ether on Base) in dollars, to compare settlement gas with prices; unset: 10000 on a real chain, which admits fewer contract wallets than the true price, and no limit by price on a local one",
  },
  X402_MAX_GAS_CENTS: {
    schema: integerSetting(1, 10_000),
    default: '10',
    description:
      'Maximum gas cost of one settlement in cents; more expensive ones wait for lower fees. Payments of contract wallets never cost more gas than they pay',
  },
  X402_WALLET_FACTORIES: {
    schema: addressListSchema.optional(),
    description:
      "Factories that may deploy a payer's contract wallet with its payment (ERC-6492), separated by commas; unset: none on a real chain, its own on a local one",
  },
  X402_DEPLOYMENTS_PER_DAY: {
    schema: integerSetting(0, 100_000),
    default: '100',
    description:
      "Maximum number of payers' wallets deployed within 24 hours, a twentieth for one address, a tenth for one /24, /56 or /48, a quarter reserved for ranges with hardly any; further ones wait. Each costs at most gas worth its payment",
  },
  X402_FREE_HOLD: {
    schema: z.enum(['on', 'off']),
    default: 'on',
    description:
      '`on`: `GET /oracle` and the skill over REST settle no payment for a HOLD and say so, so an observer of the chain learns that a settled one was no HOLD; `off`: a HOLD is charged like any other',
  },
  PURCHASE_SIGNATURE: {
    schema: z.enum(['optional', 'required']).optional(),
    description:
      "Whether a purchase requires the buyer's signature, since the transfer on chain is public; unset: `optional` on a local chain, `required` on a real one",
  },
  AGENT_COMMERCE_ADDRESS: {
    schema: addressSchema.optional(),
    description:
      'ERC-8183 contract of accepted jobs; on Base `0x238E541BfefD82238730D00a2208E5497F1832E0`; unset: its own on a local chain, none on a real one',
  },
  AGENT_COMMERCE_EVALUATORS: {
    schema: addressListSchema.optional(),
    description: 'Evaluators whose jobs are accepted at any price, separated by commas; unset: none',
  },
  AGENT_COMMERCE_MAX_USD: {
    schema: integerSetting(0, 1_000_000).optional(),
    description:
      'Maximum price of jobs with other evaluators, whole dollars: such an evaluator can read a delivery and reject it, for gas alone; unset: 5 on a local chain, 0 (none accepted) on a real one',
  },
  AGENT_COMMERCE_CODE_HASHES: {
    schema: hashListSchema.optional(),
    description:
      'keccak256 of the runtime code of the job contract, and of its implementation behind a proxy, separated by commas, once you have read that this code pays a job without an evaluator with its submission; unset: such jobs are rejected',
  },
  AGENT_COMMERCE_DIRECT_MAX_USD: {
    schema: integerSetting(0, 1_000_000),
    default: '5',
    description: 'Maximum price of a job without an evaluator, whole dollars',
  },
  AGENT_COMMERCE_DIRECT_MAX_OPEN: {
    schema: integerSetting(1, 1_000),
    default: '10',
    description:
      'Jobs without an evaluator at a time, of all clients that have not paid a job before; each costs the provider a transaction',
  },
  AGENT_COMMERCE_MARKETPLACE_URL: {
    schema: serviceUrlSchema.optional(),
    description:
      "API of a marketplace from which its buyers read deliveries, as the Virtuals ACP v2 SDK does (`https://api.acp.virtuals.io`): each submitted delivery is posted there too, and the marketplace's operator reads sold forecasts before they are public; unset: none",
  },
} satisfies SettingDefinitions;

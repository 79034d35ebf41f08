import { z } from 'zod';
import { CONTRACT_STATES } from '../../../../chain/contract-states.ts';
import { EAS_SCHEMAS, type SchemaName } from '../../../../chain/eas/schemas.ts';
import { ADDRESS, BYTES32, COUNT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { STANDARD_KINDS } from './standards.ts';

const CONTRACT = {
  address: ADDRESS.describe('Its address'),
  state: z.enum(CONTRACT_STATES).describe('`missing`: nothing there answers as it does; `unreachable`: the chain does not answer'),
  reason: z.string().nullable().describe('Why it is not live; null when it is'),
};

const TOKEN = z.object({
  ...CONTRACT,
  symbol: z.string().nullable().describe("The contract's own symbol, at most 32 characters; null unless it is live"),
  decimals: COUNT.nullable().describe('Digits of its smallest unit; null unless it is live'),
});

const EAS = z.object({
  ...CONTRACT,
  version: z.string().nullable().describe('Version of the contract; null unless it is live'),
  attester: ADDRESS.describe('Wallet that attests'),
  predictions: COUNT.describe('Predictions that this service has attested'),
  resolutions: COUNT.describe('Resolutions that this service has attested'),
  latestAttestation: TIME.nullable().describe('Block time of the newest; null before the first'),
});

const SCHEMA_REGISTRY = z.object({
  ...CONTRACT,
  schemas: z
    .array(
      z.object({
        name: z.enum(Object.keys(EAS_SCHEMAS) as SchemaName[]).describe('Name of the schema'),
        uid: BYTES32.describe('Its uid'),
        registered: z.boolean().describe('Whether it is registered; the first attestation of its kind does that'),
      }),
    )
    .nullable()
    .describe('Schemas of this service; null unless the contract is live'),
});

const IDENTITY_REGISTRY = z.object({
  ...CONTRACT,
  agentId: COUNT.nullable().describe('Id of this agent, from 0; null before its registration'),
  owner: ADDRESS.nullable().describe('Who owns it by the registry; null unless the contract is live'),
  agentUri: z.string().nullable().describe('URL of its registration file by the registry; null unless the contract is live'),
});

const REPUTATION_REGISTRY = z.object({
  ...CONTRACT,
  feedback: COUNT.nullable().describe("Outcomes that the operator's reporter has logged; null unless the contract is live"),
  reporter: ADDRESS.nullable().describe('That wallet; null unless the contract is live'),
});

const AGENT_COMMERCE = z.object({
  ...CONTRACT,
  paymentToken: ADDRESS.nullable().describe('What its jobs are paid in; null unless the contract is live'),
});

const STANDARD = z.object({
  id: z.string().describe('Short name'),
  name: z.string().describe('Name'),
  kind: z.enum(STANDARD_KINDS).describe('What it is about'),
  url: z.url().describe('Where it is specified'),
  live: z.boolean().describe('Whether this service speaks it today'),
  endpoints: z.array(z.string()).describe('Where, as URLs of this service; empty where it is met everywhere, on chain only, or not yet'),
  note: z.string().describe('What for'),
});

export const ECOSYSTEM = z.object({
  success: SUCCESS,
  chain: z
    .object({
      id: z.int().min(1).describe('Id of the chain'),
      caip2: z.string().describe('The same as CAIP-2, e.g. `eip155:8453`'),
      local: z.boolean().describe('True on a throw-away chain of this machine'),
    })
    .describe('Where the contracts are'),
  checkedAt: TIME.describe('When the contracts were asked; their answers are remembered for up to a minute'),
  contracts: z
    .object({
      eas: EAS.describe('Ethereum Attestation Service'),
      schemaRegistry: SCHEMA_REGISTRY.describe('Schema registry of EAS'),
      identityRegistry: IDENTITY_REGISTRY.describe('ERC-8004 identity registry'),
      reputationRegistry: REPUTATION_REGISTRY.describe('ERC-8004 reputation registry'),
      gateToken: TOKEN.describe('ERC-20 whose balance opens the tiers'),
      stablecoin: TOKEN.describe('What payments are made in'),
      agentCommerce: AGENT_COMMERCE.nullable().describe('ERC-8183 contract whose jobs are taken; null where none are'),
    })
    .describe('Contracts in use, each with its own state'),
  standards: z.array(STANDARD).describe('Standards and protocols'),
});

export type Ecosystem = z.input<typeof ECOSYSTEM>;

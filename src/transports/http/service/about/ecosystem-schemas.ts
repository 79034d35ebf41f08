import { z } from 'zod';
import { CONTRACT_STATES } from '../../../../chain/contract-states.ts';
import { EAS_SCHEMAS, type SchemaName } from '../../../../chain/eas/attestation-schemas.ts';
import { objectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, COUNT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { STANDARD_KINDS } from './standards.ts';

const CONTRACT = {
  address: ADDRESS.describe('Contract address'),
  state: z.enum(CONTRACT_STATES).describe('`missing`: no such contract at the address; `unreachable`: the chain does not answer'),
  reason: z.string().nullable().describe('Reason where not live; null otherwise'),
};

const TOKEN = z.object({
  ...CONTRACT,
  symbol: z.string().nullable().describe('Symbol of the contract, at most 32 characters; null unless live'),
  decimals: COUNT.nullable().describe('Decimals; null unless live'),
});

const EAS = z.object({
  ...CONTRACT,
  version: z.string().nullable().describe('Contract version; null unless live'),
  attester: ADDRESS.describe('Attesting wallet'),
  predictions: COUNT.describe('Attested predictions'),
  resolutions: COUNT.describe('Attested resolutions'),
  latestAttestation: TIME.nullable().describe('Block time of the newest; null before the first'),
});

const SCHEMA_REGISTRY = z.object({
  ...CONTRACT,
  schemas: z
    .array(
      z.object({
        name: z.enum(Object.keys(EAS_SCHEMAS) as SchemaName[]).describe('Schema name'),
        uid: BYTES32.describe('UID'),
        registered: z.boolean().describe('Whether it is registered; the first attestation of its kind registers it'),
      }),
    )
    .nullable()
    .describe('Schemas of this service; null unless live'),
});

const IDENTITY_REGISTRY = z.object({
  ...CONTRACT,
  agentId: COUNT.nullable().describe('Agent id, from 0; null before registration'),
  owner: ADDRESS.nullable().describe('Owner in the registry; null unless live'),
  agentUri: z.string().nullable().describe('URL of the registration file in the registry; null unless live'),
});

const REPUTATION_REGISTRY = z.object({
  ...CONTRACT,
  feedback: COUNT.nullable().describe("Outcomes logged by the operator's reporter; null unless live"),
  reporter: ADDRESS.nullable().describe('Reporter wallet; null unless live'),
});

const AGENT_COMMERCE = z.object({
  ...CONTRACT,
  paymentToken: ADDRESS.nullable().describe('Payment token of jobs; null unless live'),
});

const STANDARD = z.object({
  id: z.string().describe('Id'),
  name: z.string().describe('Name'),
  kind: z.enum(STANDARD_KINDS).describe('Topics'),
  url: z.url().describe('Specification'),
  live: z.boolean().describe('Whether this service supports it today'),
  endpoints: z.array(z.string()).describe('Endpoints; empty where it applies everywhere, on chain only, or not yet'),
  note: z.string().describe('Use in this service'),
});

export const ECOSYSTEM = z.object({
  success: SUCCESS,
  chain: objectOf('Chain of the contracts', {
    id: z.int().min(1).describe('Chain id'),
    caip2: z.string().describe('The same as CAIP-2, e.g. `eip155:8453`'),
    local: z.boolean().describe('True for a local throw-away chain'),
  }),
  checkedAt: TIME.describe('When the contracts were read; results are cached for up to a minute'),
  contracts: objectOf('Contracts with their states', {
    eas: EAS.describe('Ethereum Attestation Service'),
    schemaRegistry: SCHEMA_REGISTRY.describe('Schema registry of EAS'),
    identityRegistry: IDENTITY_REGISTRY.describe('ERC-8004 identity registry'),
    reputationRegistry: REPUTATION_REGISTRY.describe('ERC-8004 reputation registry'),
    gateToken: TOKEN.describe('ERC-20 gate token'),
    stablecoin: TOKEN.describe('Stablecoin of payments'),
    agentCommerce: AGENT_COMMERCE.nullable().describe('ERC-8183 contract; null where no jobs are taken'),
  }),
  standards: z.array(STANDARD).describe('Standards and protocols'),
});

export type Ecosystem = z.input<typeof ECOSYSTEM>;

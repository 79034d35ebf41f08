import { z } from 'zod';
import { addressSchema, privateKeySchema, type SettingDefinition, type SettingDefinitions, urlSetting } from './define.ts';

/** Roles of a wallet of its own, in the order in which a start reports them. */
export const SIGNER_ROLES = ['ATTESTER', 'REPORTER', 'FACILITATOR', 'PROVIDER'] as const;
export type SignerSettingRole = (typeof SIGNER_ROLES)[number];

const signerSchema = z
  .string()
  .regex(/^(kms:[\w:/.-]{1,2048}|https?:\/\/\S+)$/, 'must be kms:<id, ARN or alias/name of a key>, or the URL of a Web3Signer')
  .refine((text) => text.startsWith('kms:') || URL.canParse(text), { error: 'must be a URL' });

const keySetting = { schema: privateKeySchema.optional(), secret: true } as const;
// A URL may hold a password.
const signerSetting = { schema: signerSchema.optional(), secret: true } as const;
const addressSetting = { schema: addressSchema.optional() } as const;

type RoleSettings<Role extends SignerSettingRole> = Record<`${Role}_PRIVATE_KEY`, typeof keySetting & SettingDefinition> &
  Record<`${Role}_SIGNER`, typeof signerSetting & SettingDefinition> &
  Record<`${Role}_ADDRESS`, typeof addressSetting & SettingDefinition>;

/** The three settings of a role's wallet. @param duty what the wallet does, as the end of a sentence */
function defineRole<Role extends SignerSettingRole>(role: Role, duty: string): RoleSettings<Role> {
  const [key, signer] = [`${role}_PRIVATE_KEY`, `${role}_SIGNER`];
  return {
    [key]: { ...keySetting, description: `Key of the wallet that ${duty}; a real chain requires it or \`${signer}\`` },
    [signer]: {
      ...signerSetting,
      description: `Signer of that wallet in place of \`${key}\`: \`kms:<id, ARN or alias/name>\` of AWS KMS, or the URL of a Web3Signer`,
    },
    [`${role}_ADDRESS`]: {
      ...addressSetting,
      description: `Address of that wallet, which the start compares; required with the URL of a Web3Signer`,
    },
  } as RoleSettings<Role>;
}

/** Wallets of the roles. The one of Polymarket has a raw key only, since its client library signs itself. */
export const SIGNER_SETTINGS = {
  ...defineRole('ATTESTER', 'attests forecasts and owns the agent identity'),
  ...defineRole('REPORTER', 'logs wager outcomes to ERC-8004'),
  ...defineRole('FACILITATOR', 'settles x402 payments and pays their gas, not needed with `X402_FACILITATOR_URL`'),
  ...defineRole('PROVIDER', 'signs receipts and accepts jobs of the agent commerce protocol'),
  AWS_REGION: {
    schema: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')
      .optional(),
    description: 'Region of KMS keys that are not named by an ARN',
  },
  AWS_ENDPOINT_URL_KMS: {
    schema: urlSetting(/^https?$/, 'an http(s) URL').optional(),
    description: 'URL of AWS KMS, such as that of a VPC endpoint; unset: the public one of the region',
  },
  AWS_ACCESS_KEY_ID: {
    schema: z
      .string()
      .regex(/^\w{16,128}$/, 'must be the id of an access key')
      .optional(),
    secret: true,
    description:
      'Access key for AWS KMS, set with `AWS_SECRET_ACCESS_KEY`; unset: what the AWS SDK finds, such as the role of the machine or container',
  },
  AWS_SECRET_ACCESS_KEY: { schema: z.string().min(16, 'must be a secret access key').optional(), secret: true, description: 'Its secret' },
  AWS_SESSION_TOKEN: { schema: z.string().min(1).optional(), secret: true, description: 'Its session token, where it is temporary' },
} satisfies SettingDefinitions;

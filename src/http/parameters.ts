import { type Address, getAddress, type Hash } from 'viem';
import { z } from 'zod';
import { hasValidChecksum } from '../chain/addresses.ts';
import { OracleError } from '../errors.ts';
import {
  DEFAULT_HORIZON,
  HORIZON_DESCRIPTION,
  HORIZON_NAMES,
  HORIZON_SCHEMA,
  HORIZON_SPELLINGS,
  HORIZONS_PATTERN,
  type HorizonChoice,
  horizonsInput,
  parseHorizonDays,
  recordHorizonInput,
} from '../forecast/horizon-input.ts';
import type { HorizonName } from '../forecast/model.ts';
import { describeParameter } from './guard.ts';

const HORIZON_RULE = `${HORIZON_DESCRIPTION}, with or without the d`;
const HORIZON_TEXT = { type: 'string', enum: [...HORIZON_SPELLINGS] };

/** A horizon in a path, parsed to its name. */
export const horizonNameInput = recordHorizonInput.meta(describeParameter(HORIZON_TEXT, HORIZON_RULE));

/** `horizon` of signal paths, parsed to days. */
export const signalDaysInput = recordHorizonInput
  .default(DEFAULT_HORIZON)
  .transform(parseHorizonDays)
  .meta(describeParameter({ ...HORIZON_TEXT, default: DEFAULT_HORIZON }, HORIZON_RULE, 'Horizon'));

/** `horizon` of the scorecard, parsed to days. */
export const scorecardDaysInput = recordHorizonInput
  .default(DEFAULT_HORIZON)
  .transform(parseHorizonDays)
  .meta(describeParameter({ ...HORIZON_SCHEMA, default: parseHorizonDays(DEFAULT_HORIZON) }, HORIZON_RULE, 'HorizonDays'));

/** Largest and default page sizes (interface, section 8). */
export const PAGE_LIMITS = {
  attestations: { most: 100, default: 30 },
  scorecard: { most: 1_000, default: 20 },
  series: { most: 1_000, default: 120 },
  /** About 6 kB each. */
  distributions: { most: 100, default: 10 },
  /** About 10 kB each. */
  timestamps: { most: 100, default: 10 },
  copyTrade: { most: 90, default: 30 },
  feedback: { most: 100, default: 20 },
  wagers: { most: 365, default: 60 },
  /** Weeks. */
  crowd: { most: 520, default: 53 },
} as const;

const limitText = (max: number) =>
  z
    .string({ error: `must be given once, as a whole number from 1 to ${max}` })
    .regex(/^\d{1,6}$/, `must be a whole number from 1 to ${max}`);
const limitRange = (max: number) => z.number().min(1, `must be at least 1`).max(max, `must be at most ${max}`);
const LIMIT_DESCRIPTION = 'Maximum number of entries, newest first';

export const limitInput = (max: number, fallback: number) =>
  limitText(max)
    .default(String(fallback))
    .transform(Number)
    .pipe(limitRange(max))
    .meta(describeParameter({ type: 'integer', minimum: 1, maximum: max, default: fallback }, LIMIT_DESCRIPTION));

/** `limit` of an operation that returns all entries without it. */
export const optionalLimitInput = (max: number) =>
  limitText(max)
    .transform(Number)
    .pipe(limitRange(max))
    .meta(describeParameter({ type: 'integer', minimum: 1, maximum: max }, `${LIMIT_DESCRIPTION}; all without it`))
    .optional();

export const offsetInput = (max: number) =>
  z
    .string({ error: `must be given once, as a whole number from 0 to ${max}` })
    .regex(/^\d{1,6}$/, `must be a whole number from 0 to ${max}`)
    .default('0')
    .transform(Number)
    .pipe(z.number().max(max, `must be at most ${max}`))
    .meta(describeParameter({ type: 'integer', minimum: 0, maximum: max, default: 0 }, 'Number of entries to skip'));

/** `before`: the exclusive upper bound of a page; absent: from the newest. */
export const beforeInput = z
  .string({ error: 'must be given once, as a whole number from 1' })
  .regex(/^\d{1,9}$/, 'must be a whole number from 1, of 9 digits at most')
  .transform(Number)
  .pipe(z.number().min(1, 'must be at least 1'))
  .meta(describeParameter({ type: 'integer', minimum: 1, maximum: 999_999_999 }, 'Only entries before this position'))
  .optional();

export const dateInput = z.iso.date('must be a date of the form YYYY-MM-DD').describe('UTC day, YYYY-MM-DD');

const WALLET_META = {
  description: 'Wallet address; in mixed case its EIP-55 checksum must be valid',
  override: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
} as const;

/** An address in the spelling of the caller; in mixed case the EIP-55 checksum must be valid. */
export const rawWalletInput = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, { error: 'must be an address: 0x and 40 hex characters', abort: true })
  .refine(hasValidChecksum, 'has an invalid EIP-55 checksum')
  .transform((text) => text as Address)
  .meta(WALLET_META);

export const walletInput = rawWalletInput.transform((text) => getAddress(text)).meta(WALLET_META);

/** Signature size limit in bytes: an ERC-6492 signature carries the deployment of its contract wallet. */
const MAX_SIGNATURE_BYTES = 8_192;

/** An ECDSA signature has 65 bytes, or 64 in the compact form of EIP-2098; an EIP-1271 or ERC-6492 signature any length. */
export const signatureInput = z
  .string()
  .max(2 + 2 * MAX_SIGNATURE_BYTES, `must have at most ${MAX_SIGNATURE_BYTES} bytes`)
  .regex(/^0x([0-9a-fA-F]{2})+$/, 'must be 0x and an even number of hex characters')
  .transform((text) => text as `0x${string}`)
  .meta({
    id: 'Signature',
    description:
      'Signature as hex: of an EOA (EIP-191; also compact, EIP-2098), a contract wallet (EIP-1271), or an undeployed one (ERC-6492)',
    override: { type: 'string', pattern: '^0x([0-9a-fA-F]{2})+$', maxLength: 2 + 2 * MAX_SIGNATURE_BYTES },
  });

/** Query parameters of operations on the 7-day forecasts that cover other horizons on request. */
export const HORIZON_PARAMETERS = {
  horizon: recordHorizonInput
    .optional()
    .meta(
      describeParameter(
        { type: 'string', enum: [...HORIZON_SPELLINGS], default: DEFAULT_HORIZON },
        `One horizon: ${HORIZON_DESCRIPTION.toLowerCase()}, with or without the d; not with \`horizons\``,
        'OneHorizon',
      ),
    ),
  horizons: horizonsInput
    .optional()
    .meta(
      describeParameter(
        { type: 'string', pattern: HORIZONS_PATTERN.source },
        'Several horizons: names separated by commas, such as `2d,7d`, or `all`; not with `horizon`',
        'Horizons',
      ),
    ),
};

/** Horizons of a request, ascending. @throws OracleError INPUT_INVALID where both parameters are sent */
export function selectHorizons({ horizon, horizons }: { horizon?: HorizonName; horizons?: HorizonChoice }): HorizonName[] {
  if (horizon !== undefined && horizons !== undefined) {
    throw new OracleError('INPUT_INVALID', 'query parameter "horizons": cannot be combined with "horizon"', {
      field: 'horizons',
      suggestedAction: 'Send "horizon" for one horizon, or "horizons" for several.',
    });
  }
  if (horizons !== undefined) return [...(horizons ?? HORIZON_NAMES)];
  return [horizon ?? DEFAULT_HORIZON];
}

/** In lower case. */
export const txHashInput = (description: string) =>
  z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .transform((text) => text.toLowerCase() as Hash)
    .meta({ description, override: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' } });

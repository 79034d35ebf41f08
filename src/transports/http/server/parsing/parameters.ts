import { z } from 'zod';
import { DEFAULT_HORIZON, parseHorizonDays, recordHorizonInput, SIGNAL_HORIZONS } from '../../../../forecast/horizon-input.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import { describeParameter } from './describe-parameter.ts';

const HORIZON_DESCRIPTION = 'Days from the opening of the outcome window to its end';

/** `horizon` of signal paths, parsed to days; bare numbers are accepted. */
export const signalDaysInput = recordHorizonInput
  .default(DEFAULT_HORIZON)
  .transform(parseHorizonDays)
  .meta(
    describeParameter(
      { type: 'string', enum: [...SIGNAL_HORIZONS], default: DEFAULT_HORIZON },
      `${HORIZON_DESCRIPTION}; 1d and bare numbers such as 7 are accepted`,
    ),
  );

/** `horizon` of the scorecard, parsed to days; names such as `7d` are accepted. */
export const scorecardDaysInput = recordHorizonInput
  .default(DEFAULT_HORIZON)
  .transform(parseHorizonDays)
  .meta(
    describeParameter(
      { type: 'integer', enum: [...HORIZONS], default: parseHorizonDays(DEFAULT_HORIZON) },
      `${HORIZON_DESCRIPTION}; 7d is accepted for 7`,
    ),
  );

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
  wagers: { most: 365, default: 60 },
  /** Weeks. */
  crowd: { most: 520, default: 53 },
} as const;

export const limitInput = (max: number, fallback: number) =>
  z
    .string({ error: `must be given once, as a whole number from 1 to ${max}` })
    .regex(/^\d{1,6}$/, `must be a whole number from 1 to ${max}`)
    .default(String(fallback))
    .transform(Number)
    .pipe(z.number().min(1, `must be at least 1`).max(max, `must be at most ${max}`))
    .meta(describeParameter({ type: 'integer', minimum: 1, maximum: max, default: fallback }, 'Maximum number of entries, newest first'));

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

export const attestationUidInput = z
  .string()
  .regex(/^0x[a-fA-F0-9]{64}$/, 'must be 0x followed by 64 hex characters')
  .transform((text) => text.toLowerCase() as `0x${string}`)
  .describe('Attestation UID: 0x and 64 hex characters');

export const dateInput = z.iso.date('must be a date of the form YYYY-MM-DD').describe('UTC day, YYYY-MM-DD');

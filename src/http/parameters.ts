import { z } from 'zod';

/** `horizon` of signal paths: `2d`, `3d`, `7d`, default `7d`; read as days. */
export const signalHorizon = z
  .enum(['2d', '3d', '7d'], { error: 'must be one of 2d, 3d, 7d' })
  .default('7d')
  .transform((text) => Number.parseInt(text, 10));

/** `horizon` of the scorecard: 1, 2, 3 or 7, default 7. */
export const scorecardHorizon = z.enum(['1', '2', '3', '7'], { error: 'must be one of 1, 2, 3, 7' }).default('7').transform(Number);

/** `limit`: a whole number from 1 to `max`. */
export const limit = (max: number, fallback: number) =>
  z
    .string({ error: `must be given once, as a whole number from 1 to ${max}` })
    .regex(/^\d{1,6}$/, `must be a whole number from 1 to ${max}`)
    .default(String(fallback))
    .transform(Number)
    .pipe(z.number().min(1, `must be at least 1`).max(max, `must be at most ${max}`));

/** An attestation's uid. */
export const uid = z
  .string()
  .regex(/^0x[a-fA-F0-9]{64}$/, 'must be 0x followed by 64 hex characters')
  .transform((text) => text.toLowerCase() as `0x${string}`);

/** A day, `YYYY-MM-DD`. */
export const date = z.iso.date('must be a date of the form YYYY-MM-DD');

import { z } from 'zod';

/** What the fields of answers are made of. Each use adds its own description, last, so that it stands on the outermost schema. */

/** ISO 8601 date and time, UTC. */
export const TIME = z.iso.datetime();

/** `YYYY-MM-DD`, UTC. */
export const DATE = z.iso.date();

/** 32 bytes as hex, such as a transaction hash or an attestation uid. */
export const BYTES32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/);

/** An account or contract. */
export const ADDRESS = z.string().regex(/^0x[0-9a-fA-F]{40}$/);

/** A probability or a share, 0 to 1. */
export const PROBABILITY = z.number().min(0).max(1);

/** How many. */
export const COUNT = z.int().min(0);

/** An amount of money in the asset's smallest unit, or wei, where it may exceed what a JSON number holds: decimal digits. */
export const INTEGER_TEXT = z.string().regex(/^\d+$/);

/** The first field of every answer of success. */
export const SUCCESS = z.literal(true).describe('Always true; what fails is answered with problem details, where it is false');

import { z } from 'zod';

/** Building blocks of response fields. Each use adds its description last, on the outermost schema. */

/** ISO 8601 date and time, UTC. */
export const TIME = z.iso.datetime();
/** `YYYY-MM-DD`, UTC. */
export const DATE = z.iso.date();
/** 32 bytes as hex, such as a transaction hash or an attestation uid. */
export const BYTES32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/);
export const ADDRESS = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
/** A probability or a share, 0 to 1. */
export const PROBABILITY = z.number().min(0).max(1);
export const COUNT = z.int().min(0);
/** An amount in the asset's smallest unit, or wei, as decimal digits: it may exceed a JSON number. */
export const INTEGER_TEXT = z.string().regex(/^\d+$/);
/** A non-negative exact decimal. */
export const DECIMAL = z.string().regex(/^\d+(\.\d+)?$/);
/** Bytes of any length, lower case. */
export const HEX = z.string().regex(/^0x[0-9a-f]+$/);
/** The first field of every success response. */
export const SUCCESS = z.literal(true).describe('Always true; what fails is answered with problem details, where it is false');

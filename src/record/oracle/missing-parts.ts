import { isOracleError } from '../../platform/errors.ts';

/** A part of an answer that is null, and why. */
export interface MissingPart {
  part: string;
  reason: string;
}

/** The value; or null, with the reason noted, when it cannot be had: one part that is down is no reason to tell nothing. */
export async function loadOrNoteMissing<Value>(missing: MissingPart[], part: string, load: () => Promise<Value>): Promise<Value | null> {
  try {
    return await load();
  } catch (error) {
    if (!isOracleError(error) || error.code === 'INTERNAL') throw error;
    missing.push({ part, reason: error.message });
    return null;
  }
}

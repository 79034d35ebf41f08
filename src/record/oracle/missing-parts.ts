import { isOracleError } from '../../platform/errors.ts';

export interface MissingPart {
  part: string;
  reason: string;
}

/** The loaded value, or null with the reason noted: one unavailable part must not fail the whole response. */
export async function loadOrNoteMissing<Value>(missing: MissingPart[], part: string, load: () => Promise<Value>): Promise<Value | null> {
  try {
    return await load();
  } catch (error) {
    if (!isOracleError(error) || error.code === 'INTERNAL') throw error;
    missing.push({ part, reason: error.message });
    return null;
  }
}

import { isOracleError, OracleError } from '../../../platform/errors.ts';

/** An error as one JSON document; fields that it does not have are null. */
export interface ErrorDocument {
  code: string;
  message: string;
  /** The option, argument or setting at fault. */
  field: string | null;
  suggestedAction: string | null;
  /** Whether the same call may succeed later. */
  retryable: boolean;
  retryAfterSeconds: number | null;
}

/** @param suggestedAction replaces that of the error. Unknown errors become INTERNAL with their masked message. */
export function toErrorDocument(error: unknown, suggestedAction?: string): ErrorDocument {
  const known = isOracleError(error) ? error : new OracleError('INTERNAL', maskEndpoints(getText(error)));
  const { code, message, field = null, retryable, retryAfterSeconds = null } = known;
  return { code, message, field, suggestedAction: suggestedAction ?? known.suggestedAction ?? null, retryable, retryAfterSeconds };
}

/** URLs of endpoints may contain an access key. */
export function maskEndpoints(text: string): string {
  return text.replaceAll(/\b(https?|wss?):\/\/\S+/g, '<endpoint>');
}

function getText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

import { OracleError } from '../../../../platform/errors.ts';
import { getConnection } from './client-connection.ts';
import { NEGLIGIBLE_BYTES } from './unsent-bytes-monitor.ts';

const RETRY_AFTER_SECONDS = 10;

/** Reserves memory before a response is written, which bounds the bytes held for clients that do not read. @throws OracleError OVERLOADED */
export async function requireSendCapacity(socket: object, bytes: number): Promise<void> {
  if (bytes <= NEGLIGIBLE_BYTES) return;
  const connection = getConnection(socket);
  if (connection === undefined || (await connection.reserveBytes(bytes))) return;
  const message = 'Unread responses of your network, or of all clients, use all available memory';
  const suggestedAction = 'Read the responses to earlier requests, or request compression with Accept-Encoding.';
  throw new OracleError('OVERLOADED', message, { suggestedAction, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

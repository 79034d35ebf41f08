import type { Request } from 'express';
import type { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { HANDSHAKE_QUERY } from './schemas.ts';

export interface HandshakeCredential {
  field: 'Authorization' | 'token' | 'ticket';
  value: string;
}

interface HandshakeRequest {
  credential: HandshakeCredential | null;
  query: Pick<z.output<typeof HANDSHAKE_QUERY>, 'events' | 'horizon' | 'horizons' | 'since'>;
}

const VERSION = '13';
/** 16 bytes as base64 (RFC 6455, section 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/** @throws OracleError METHOD_NOT_ALLOWED, UPGRADE_REQUIRED, INPUT_INVALID naming the field, never repeating a value */
export function parseHandshake(request: Request): HandshakeRequest {
  if (request.method !== 'GET') throw new OracleError('METHOD_NOT_ALLOWED', 'A WebSocket handshake requires GET');
  // RFC 9110, section 7.8.
  if (request.httpVersion === '1.0') throw buildHeaderError('Upgrade', 'is not supported in HTTP/1.0');
  rejectBody(request);
  if (request.get('Sec-WebSocket-Version') !== VERSION) throw buildVersionError();
  if (!KEY.test(request.get('Sec-WebSocket-Key') ?? '')) throw buildHeaderError('Sec-WebSocket-Key', 'must be 16 bytes as base64');
  const names = { kind: 'query parameter', root: 'query' };
  const { token, ticket, since, sinceId, ...query } = parseInput(HANDSHAKE_QUERY, request.query, names);
  if (since !== undefined && sinceId !== undefined) throw buildHeaderError('sinceId', 'cannot be combined with since, its older name');
  return {
    credential: pickCredential({ Authorization: request.get('Authorization'), token, ticket }),
    query: { ...query, since: sinceId ?? since },
  };
}

/** The bytes that follow a handshake are frames. */
function rejectBody(request: Request): void {
  if (request.get('Transfer-Encoding') !== undefined) throw buildHeaderError('Transfer-Encoding', 'a handshake has no body');
  if (Number(request.get('Content-Length') ?? 0) !== 0) throw buildHeaderError('Content-Length', 'a handshake has no body');
}

function pickCredential(sent: Record<HandshakeCredential['field'], string | undefined>): HandshakeCredential | null {
  const credentials = Object.entries(sent).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, value } as HandshakeCredential],
  );
  if (credentials.length <= 1) return credentials[0] ?? null;
  const [{ field }] = credentials;
  throw new OracleError('INPUT_INVALID', `Send only one of ${credentials.map((credential) => credential.field).join(' and ')}`, {
    field,
    suggestedAction: 'Send one of them.',
  });
}

function buildVersionError(): OracleError {
  return new OracleError('UPGRADE_REQUIRED', `Only version ${VERSION} of the WebSocket protocol is supported`, {
    field: 'Sec-WebSocket-Version',
    suggestedAction: `Send Sec-WebSocket-Version: ${VERSION}.`,
  });
}

function buildHeaderError(field: string, problem: string): OracleError {
  const suggestedAction = 'Connect with an RFC 6455 client.';
  return new OracleError('INPUT_INVALID', `Header "${field}": ${problem}`, { field, suggestedAction });
}

import type { Request } from 'express';
import type { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { parseInput } from '../../parse-input.ts';
import { HANDSHAKE_QUERY } from '../schemas/websocket.ts';

/** How somebody proves who he is: the field that it came in, and what is in it. */
export interface Proof {
  field: 'Authorization' | 'token' | 'ticket';
  value: string;
}

export interface AskedConnection {
  /** Null: none was sent. */
  proof: Proof | null;
  query: Pick<z.output<typeof HANDSHAKE_QUERY>, 'events' | 'horizon' | 'horizons' | 'since'>;
}

const VERSION = '13';
/** 16 bytes as base64 (RFC 6455, section 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

/**
 * What a handshake asks for, before anybody is asked who he is.
 * @throws OracleError METHOD_NOT_ALLOWED, UPGRADE_REQUIRED, INPUT_INVALID naming the field at fault, never repeating a value
 */
export function readHandshake(request: Request): AskedConnection {
  if (request.method !== 'GET') throw new OracleError('METHOD_NOT_ALLOWED', 'A WebSocket is opened with GET');
  // RFC 9110, section 7.8.
  if (request.httpVersion === '1.0') throw malformed('Upgrade', 'means nothing in HTTP/1.0');
  refuseBody(request);
  if (request.get('Sec-WebSocket-Version') !== VERSION) throw wrongVersion();
  if (!KEY.test(request.get('Sec-WebSocket-Key') ?? '')) throw malformed('Sec-WebSocket-Key', 'must be 16 bytes as base64');
  const names = { what: 'query parameter', whole: 'query' };
  const { token, ticket, since, sinceId, ...query } = parseInput(HANDSHAKE_QUERY, request.query, names);
  if (since !== undefined && sinceId !== undefined) throw malformed('sinceId', 'stands beside since, which means the same');
  return { proof: proofOf({ Authorization: request.get('Authorization'), token, ticket }), query: { ...query, since: sinceId ?? since } };
}

/** What would follow it are frames. */
function refuseBody(request: Request): void {
  if (request.get('Transfer-Encoding') !== undefined) throw malformed('Transfer-Encoding', 'a handshake has no body');
  if (Number(request.get('Content-Length') ?? 0) !== 0) throw malformed('Content-Length', 'a handshake has no body');
}

function proofOf(sent: Record<Proof['field'], string | undefined>): Proof | null {
  const proofs = Object.entries(sent).flatMap(([field, value]) => (value === undefined ? [] : [{ field, value } as Proof]));
  if (proofs.length <= 1) return proofs[0] ?? null;
  const [{ field }] = proofs;
  throw new OracleError('INPUT_INVALID', `Only one of ${proofs.map((proof) => proof.field).join(' and ')} can say who you are`, {
    field,
    suggestedAction: 'Send one of them.',
  });
}

function wrongVersion(): OracleError {
  return new OracleError('UPGRADE_REQUIRED', `Only version ${VERSION} of the WebSocket protocol is spoken here`, {
    field: 'Sec-WebSocket-Version',
    suggestedAction: `Send Sec-WebSocket-Version: ${VERSION}.`,
  });
}

function malformed(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `Header "${field}": ${problem}`, {
    field,
    suggestedAction: 'Connect with a client of RFC 6455.',
  });
}

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { decodeProtectedHeader, jwtVerify } from 'jose';

export interface CdpKeyPair {
  id: string;
  /** As the portal of CDP shows it. */
  secret: string;
  publicKey: KeyObject;
}

export function createEd25519Key(): CdpKeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { d, x } = privateKey.export({ format: 'jwk' });
  const secret = Buffer.concat([Buffer.from(d!, 'base64url'), Buffer.from(x!, 'base64url')]).toString('base64');
  return { id: '5b3b3a04-7f0e-4b6b-9a43-6d4c3a8e1f55', secret, publicKey };
}

export function createP256Key(): CdpKeyPair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const secret = privateKey.export({ format: 'pem', type: 'sec1' }).toString();
  return { id: 'organizations/5b3b3a04/apiKeys/7f0e-4b6b', secret, publicKey: createPublicKey(privateKey) };
}

export interface CdpServer {
  url: string;
  /** Reason of each rejected request, or null, in order. */
  verdicts: (string | null)[];
  nonces: unknown[];
  /** Answers of the paths with a valid key. */
  answers: Record<string, object>;
  key: CdpKeyPair | null;
  close(): void;
}

/** The hosted facilitator's authentication on loopback: each request needs a token of the key for its own method, host and path. */
export async function startCdpServer(key: CdpKeyPair | null, now: () => Date): Promise<CdpServer> {
  const state: CdpServer = { url: '', verdicts: [], nonces: [], answers: {}, key, close: () => void server.close() };
  const server = createServer(async (request, response) => {
    await text(request);
    const { method, url, headers } = request;
    const reason = await findRejection(state, { authorization: headers.authorization, uri: `${method} ${headers.host}${url}`, now: now() });
    state.verdicts.push(reason);
    const answer = state.answers[url ?? ''];
    const status = reason !== null ? 401 : answer === undefined ? 400 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? { errorType: 'invalid_request' }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  // The path below which the hosted one serves.
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/platform/v2/x402`;
  return state;
}

interface SignedRequest {
  authorization: string | undefined;
  uri: string;
  now: Date;
}

async function findRejection(server: CdpServer, { authorization, uri, now }: SignedRequest): Promise<string | null> {
  const token = authorization?.match(/^Bearer (\S+)$/)?.[1];
  if (token === undefined || server.key === null) return 'no token';
  try {
    const { kid, nonce, alg } = decodeProtectedHeader(token);
    const algorithms = [server.key.publicKey.asymmetricKeyType === 'ed25519' ? 'EdDSA' : 'ES256'];
    const options = { issuer: 'cdp', subject: server.key.id, algorithms, currentDate: now, clockTolerance: 5, typ: 'JWT' };
    const { payload } = await jwtVerify(token, server.key.publicKey, options);
    server.nonces.push(nonce);
    if (kid !== server.key.id) return `key ${kid} ${alg}`;
    if (typeof nonce !== 'string' || nonce.length < 16) return 'no nonce';
    if (payload.exp! - payload.nbf! !== 120) return 'validity';
    return JSON.stringify(payload.uris) === JSON.stringify([uri]) ? null : `signed for ${payload.uris}`;
  } catch (error) {
    return (error as Error).message;
  }
}

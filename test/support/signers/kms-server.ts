import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../network/loopback-server.ts';
import { type generateKmsKey, signDer } from './kms-keys.ts';

/** An answer of a test's own; `silent`: none. */
export type KmsAnswer = { status: number; body: string } | 'silent';

export interface TestKms {
  url: string;
  /** Operation, input and headers of each request. */
  calls: { operation: string; input: Record<string, string>; headers: IncomingHttpHeaders }[];
  answer: ((operation: string) => KmsAnswer | undefined) | null;
  close(): Promise<void>;
}

export const kmsError = (status: number, type: string): KmsAnswer => ({ status, body: JSON.stringify({ __type: type, message: 'no' }) });

/** AWS KMS by its protocol, AWS JSON 1.1: https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html. Every second signature has a high `s`. */
export async function startKms(keys: Record<string, ReturnType<typeof generateKmsKey>>): Promise<TestKms> {
  const server = createServer(async (request, response) => {
    const { headers } = request;
    const operation = String(headers['x-amz-target']).replace('TrentService.', '');
    const input = JSON.parse(await text(request)) as Record<string, string>;
    kms.calls.push({ operation, input, headers });
    const answer = kms.answer?.(operation) ?? run(operation, input);
    if (answer === 'silent') return;
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': 'a' }).end(answer.body);
  });
  let signatures = 0;
  const run = (operation: string, { KeyId, Message, MessageType, SigningAlgorithm }: Record<string, string>): KmsAnswer => {
    const key = keys[KeyId!];
    if (key === undefined) return kmsError(400, 'NotFoundException');
    if (operation === 'GetPublicKey') {
      const PublicKey = Buffer.from(key.spki).toString('base64');
      return { status: 200, body: JSON.stringify({ KeyId, PublicKey, KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY' }) };
    }
    const digest = Buffer.from(Message!, 'base64');
    const isValid = operation === 'Sign' && MessageType === 'DIGEST' && SigningAlgorithm === 'ECDSA_SHA_256' && digest.length === 32;
    if (!isValid) return kmsError(400, 'ValidationException');
    const Signature = Buffer.from(signDer(key.key, digest, signatures++ % 2 === 0 ? 'high' : 'low')).toString('base64');
    return { status: 200, body: JSON.stringify({ KeyId, Signature, SigningAlgorithm }) };
  };
  const kms: TestKms = { ...(await listenOnLoopback(server)), calls: [], answer: null };
  return kms;
}

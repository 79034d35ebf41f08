import { type AwsRequestHandler, createAwsRequestHandler } from '../../platform/outbound/aws-request-handler.ts';
import type { KmsKey } from './kms-backend.ts';
import { SIGNER_TIMEOUT_MS, SignerBusy } from './retry-busy.ts';
import { SignerRefusal } from './role-signer.ts';

export interface KmsKeyOptions {
  /** Id, ARN, or `alias/name`. */
  keyId: string;
  region: string;
  /** Default: the public endpoint of the region. */
  endpoint?: string;
  /** Default: the credential chain of the SDK. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string };
}

/** What is used of `@aws-sdk/client-kms`, an optional package, whose types are not installed either. */
export interface KmsSdk {
  KMSClient: new (config: {
    region: string;
    endpoint?: string;
    credentials?: KmsKeyOptions['credentials'];
    maxAttempts: number;
    requestHandler: AwsRequestHandler;
  }) => { send(command: object): Promise<KmsAnswer> };
  GetPublicKeyCommand: new (input: { KeyId: string }) => object;
  SignCommand: new (input: { KeyId: string; Message: Uint8Array; MessageType: 'DIGEST'; SigningAlgorithm: 'ECDSA_SHA_256' }) => object;
}

interface KmsAnswer {
  PublicKey?: Uint8Array;
  Signature?: Uint8Array;
}

/** https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html: ECDSA_SHA_256 takes any digest of 32 bytes, keccak256 too. */
export function openKmsKey(
  { KMSClient, GetPublicKeyCommand, SignCommand }: KmsSdk,
  options: KmsKeyOptions,
  timeoutMs = SIGNER_TIMEOUT_MS,
): KmsKey {
  const { keyId: KeyId, ...config } = options;
  const requestHandler = createAwsRequestHandler({ endpoint: options.endpoint, timeoutMs });
  // One attempt: `retryBusy` repeats.
  const client = new KMSClient({ ...config, maxAttempts: 1, requestHandler });
  const send = async (command: object) => {
    try {
      return await client.send(command);
    } catch (error) {
      throw toSignerFailure(error);
    }
  };
  return {
    getPublicKey: async () => requireBytes((await send(new GetPublicKeyCommand({ KeyId }))).PublicKey),
    sign: async (digest) => {
      const input = { KeyId, Message: digest, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const;
      return requireBytes((await send(new SignCommand(input))).Signature);
    },
  };
}

/** Errors that AWS also sends with a status below 500, https://docs.aws.amazon.com/kms/latest/APIReference/CommonErrors.html */
const THROTTLING_ERROR = /Throttl|TooManyRequests|RequestLimitExceeded/;

function toSignerFailure(error: unknown): unknown {
  const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (status === undefined) return error;
  if (status >= 500 || status === 429 || THROTTLING_ERROR.test(name))
    return new SignerBusy(`KMS answers ${name} (${status})`, { cause: error });
  return new SignerRefusal(`KMS answers ${name} (${status})`, { cause: error });
}

function requireBytes(bytes: Uint8Array | undefined): Uint8Array {
  if (bytes === undefined) throw new SignerRefusal('KMS answers without the value that was asked for');
  return bytes;
}

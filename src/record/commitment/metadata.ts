import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { CID } from 'multiformats/cid';
import * as Digest from 'multiformats/hashes/digest';
import type { Hex } from 'viem';

const RAW_CODEC = 0x55;
const SHA2_256_CODE = 0x12;

/** Public part of a day's forecasts: RFC 8785 JSON, with the sha2-256 of its bytes as on chain and as CIDv1 (raw). */
export type Metadata = ReturnType<typeof buildMetadata>;

export function buildMetadata(value: object) {
  const json = canonicalize(value) as string;
  const digest = `0x${createHash('sha256').update(json).digest('hex')}` as const;
  return { json, digest, cid: buildCid(digest) };
}

export function buildCid(digest: Hex): string {
  return CID.createV1(RAW_CODEC, Digest.create(SHA2_256_CODE, Buffer.from(digest.slice(2), 'hex'))).toString();
}

import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { CID } from 'multiformats/cid';
import * as Digest from 'multiformats/hashes/digest';
import type { Hex } from 'viem';

const RAW_CODEC = 0x55;
const SHA2_256_CODE = 0x12;

/** Public part of a day's forecasts, hashed into the attestation and served. */
export interface Metadata {
  /** RFC 8785 JSON, the exact bytes behind digest and CID. */
  json: string;
  /** sha2-256 of the JSON, the `metadata` field on chain. */
  digest: Hex;
  /** CIDv1 (raw, sha2-256) of the same bytes. */
  cid: string;
}

export function buildMetadata(value: object): Metadata {
  const json = canonicalize(value) as string;
  const digest = `0x${createHash('sha256').update(json).digest('hex')}` as const;
  return { json, digest, cid: buildCid(digest) };
}

export function buildCid(digest: Hex): string {
  return CID.createV1(RAW_CODEC, Digest.create(SHA2_256_CODE, Buffer.from(digest.slice(2), 'hex'))).toString();
}

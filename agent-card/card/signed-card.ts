import { createHash } from 'node:crypto';
import { AgentCard, type AgentCardSignature, canonicalizeAgentCard } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import { FlattenedSign } from 'jose';
import { CARD_ALGORITHM, type CardJwk, type CardKeyStore } from '../../src/auth/tokens/card-key-store.ts';
import type { SigningKey } from '../../src/auth/tokens/signing-key-store.ts';
import { joinUrl } from '../../src/platform/service-url.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { CardChangeStore } from './card-change-store.ts';
import type { CardSource } from './card-source.ts';
import { buildServedCard } from './served-card.ts';

export interface SignedCard extends SignedDocument {
  /** Last change in any process, in whole seconds. */
  modifiedAt: Date;
}

interface SignedDocument {
  json: string;
  /** Weak, over the unsigned card and the key id: signatures differ between processes. */
  etag: string;
  kid: string;
}

export interface CardService {
  source: CardSource;
  current(): Promise<SignedCard>;
  /** Public keys, active one first. */
  keys(): Promise<CardJwk[]>;
  /** Activates a new key, in other processes within a minute. With `revoke`, cards signed with earlier keys no longer verify. */
  rotate(options: { revoke: boolean }): Promise<{ kid: string }>;
}

export interface CardServiceDeps {
  source: CardSource;
  keys: CardKeyStore;
  changes: Pick<CardChangeStore, 'record'>;
  now(): Date;
}

/** Interval at which a process looks for a key that another process has rotated. */
const KEY_CHECK_INTERVAL_MS = 60_000;

/** Signs the card once per key and caches it. */
export function createCardService({ source, keys, changes, now }: CardServiceDeps): CardService {
  let signed: SignedCard | undefined;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return {
    source,
    keys: () => keys.listPublicKeys(),
    async rotate(options) {
      const rotated = await keys.rotate(options);
      checkedAtMs = Number.NEGATIVE_INFINITY;
      return rotated;
    },
    async current() {
      const nowMs = now().getTime();
      if (signed !== undefined && nowMs - checkedAtMs < KEY_CHECK_INTERVAL_MS) return signed;
      const key = await keys.getSigningKey();
      if (signed?.kid !== key.kid) {
        const card = await signCard(source, key);
        signed = { ...card, modifiedAt: await changes.record(card.etag) };
      }
      checkedAtMs = nowMs;
      return signed;
    },
  };
}

/** One signature per canonical form (A2A 1.0, section 8.4): of the SDKs (no empty values), RFC 8785, and section 8.4.1. */
export async function signCard(source: CardSource, { kid, privateKey }: SigningKey): Promise<SignedDocument> {
  const card = buildServedCard(source);
  const whole = canonicalize(card) as string;
  const header = { alg: CARD_ALGORITHM, typ: 'JOSE', kid, jku: joinUrl(source.publicUrl, ENDPOINTS.cardKeys) };
  const sign = async (text: string): Promise<Omit<AgentCardSignature, 'header'>> => {
    const jws = await new FlattenedSign(new TextEncoder().encode(text)).setProtectedHeader(header).sign(privateKey);
    return { protected: jws.protected!, signature: jws.signature };
  };
  const payloads = [canonicalizeAgentCard(card as unknown as AgentCard), whole, toCanonicalCard(card)];
  const signatures = await Promise.all(payloads.map(sign));
  const etag = `W/"${createHash('sha256').update(`${kid}.${whole}`).digest('base64url')}"`;
  return { json: JSON.stringify({ ...card, signatures }), etag, kid };
}

/**
 * Canonical form of A2A 1.0, section 8.4.1: the 1.0 fields without `signatures`, as RFC 8785 JSON. Default values are omitted; required
 * and optional fields that are set stay, and so do empty messages, which the SDKs drop.
 * @param card its required fields must not be empty, because empty ones would be omitted
 */
function toCanonicalCard(card: Record<string, unknown>): string {
  const { signatures: _, ...fields } = AgentCard.toJSON(AgentCard.fromJSON(card)) as Record<string, unknown>;
  return canonicalize(fields) as string;
}

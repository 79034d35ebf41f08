import { createHash } from 'node:crypto';
import { type AgentCard, type AgentCardSignature, canonicalizeAgentCard } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import { FlattenedSign } from 'jose';
import { CARD_ALGORITHM, type CardJwk, type CardKeyStore } from '../../src/auth/tokens/card-key-store.ts';
import type { SigningKey } from '../../src/auth/tokens/signing-key-store.ts';
import { joinUrl } from '../../src/platform/service-url.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { toCanonicalCard } from './canonical-card.ts';
import type { CardSource } from './card.ts';
import type { CardChangeStore } from './card-change-store.ts';
import { buildServedCard } from './served-card.ts';

/** The card as it goes out. */
export interface SignedCard extends SignedDocument {
  /** When it last changed, in any process; to the second. */
  modifiedAt: Date;
}

interface SignedDocument {
  json: string;
  /** Weak: of what the card says and the key it is signed with. Signatures of the same differ from process to process. */
  etag: string;
  /** Name of that key. */
  kid: string;
}

export interface CardService {
  source: CardSource;
  current(): Promise<SignedCard>;
  /** Public keys that a card may be signed with, the active one first. */
  keys(): Promise<CardJwk[]>;
  /** Signs with a new key from now on, in other processes within a minute; with `revoke` nothing under an earlier one can be checked any more. */
  rotate(options: { revoke: boolean }): Promise<{ kid: string }>;
}

export interface CardServiceDeps {
  source: CardSource;
  keys: CardKeyStore;
  changes: Pick<CardChangeStore, 'record'>;
  now(): Date;
}

/** After which a process looks whether another one has made a new key. */
const KEY_CHECK_INTERVAL_MS = 60_000;

/** Signs the card once for each key, and keeps it. */
export function createCardService({ source, keys, changes, now }: CardServiceDeps): CardService {
  let signed: SignedCard | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return {
    source,
    keys: () => keys.listPublicKeys(),
    async rotate(options) {
      const made = await keys.rotate(options);
      lookedAtMs = Number.NEGATIVE_INFINITY;
      return made;
    },
    async current() {
      const nowMs = now().getTime();
      if (signed !== undefined && nowMs - lookedAtMs < KEY_CHECK_INTERVAL_MS) return signed;
      const key = await keys.getSigningKey();
      if (signed?.kid !== key.kid) {
        const text = await signCard(source, key);
        signed = { ...text, modifiedAt: await changes.record(text.etag) };
      }
      lookedAtMs = nowMs;
      return signed;
    },
  };
}

/**
 * Three signatures over the card without `signatures` (A2A 1.0, section 8.4): over its fields of 1.0 as the SDKs canonicalize them, without
 * anything empty; over the RFC 8785 form of the whole document, fields of 0.3 included; over its fields of 1.0 as section 8.4.1 has it.
 */
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

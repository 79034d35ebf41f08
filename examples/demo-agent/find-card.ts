import canonicalize from 'canonicalize';
import { createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from 'jose';
import type { Agent } from './agent.ts';
import { ask } from './ask.ts';
import { beginStep, check, narrate } from './narrate.ts';

interface Card {
  name: string;
  version: string;
  skills: { id: string }[];
  signatures: { protected: string; signature: string }[];
}

/** Reads the agent card and verifies its signature. */
export async function findCard({ service }: Agent): Promise<void> {
  beginStep('Find the service and verify its card');
  const { signatures, ...card } = await ask<Card>(`${service}/.well-known/agent-card.json`);
  narrate(`${card.name} ${card.version}: ${card.skills.map(({ id }) => id).join(', ')}`);
  const payload = Buffer.from(canonicalize(card)!).toString('base64url');
  const keys = createLocalJWKSet(await ask<JSONWebKeySet>(`${service}/.well-known/agent-card-jwks.json`));
  const isSigned = await flattenedVerify({ ...signatures[1], payload }, keys).then(
    () => true,
    () => false,
  );
  check(isSigned, 'the card is signed by a key of the service');
}

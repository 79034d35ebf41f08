import { randomUUID } from 'node:crypto';
import type { OAuthServer } from '../provider/oauth-server.ts';
import type { ClientStore } from '../stores/client-store.ts';
import { type ClientMetadata, ClientMetadataError, parseClientMetadata, requireOneDomain } from './client-metadata.ts';

export interface RegisteredClient extends ClientMetadata {
  client_id: string;
  /** Unix seconds. */
  client_id_issued_at: number;
}

/** Registers a public client (RFC 7591), for clients without a document of their own. @throws ClientMetadataError; OracleError RATE_LIMITED */
export async function registerClient(
  { clients, server }: { clients: ClientStore; server: Pick<OAuthServer, 'validateClient'> },
  document: unknown,
  address: string,
): Promise<RegisteredClient> {
  const metadata = parseClientMetadata(document);
  requireOneDomain(metadata);
  const clientId = `client-${randomUUID()}`;
  await server.validateClient({ client_id: clientId, ...metadata });
  const registeredAt = await clients.insert(clientId, { client_id: clientId, ...metadata }, address);
  return { client_id: clientId, client_id_issued_at: Math.floor(registeredAt.getTime() / 1_000), ...metadata };
}

/** The error of RFC 7591, section 3.2.2, for a rejected registration; other errors are thrown on. */
export function toRegistrationError(error: unknown): { error: string; error_description: string } {
  if (!(error instanceof ClientMetadataError)) throw error;
  return { error: error.isAboutRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', error_description: error.message };
}

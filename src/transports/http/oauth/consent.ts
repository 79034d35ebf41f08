import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Caller } from '../../../auth/caller.ts';
import type { OAuthServer } from '../../../auth/oauth/provider/oauth-server.ts';
import { requireTier } from '../../../auth/tiers/tiers.ts';
import { unauthenticated } from '../../../auth/tokens/access-tokens.ts';
import { OracleError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { findCrossSiteError } from '../server/security/same-origin.ts';
import { CONSENT_HEADERS, renderConsentPage } from './consent-page.ts';
import { methodNotAllowed } from './method-not-allowed.ts';

export interface ConsentDeps {
  server: Pick<OAuthServer, 'getConsentRequest' | 'allow' | 'deny'>;
  publicUrl: string;
  hasDemoWallets: boolean;
  /** Ends the session that was opened for the consent. */
  logOut(sessionId: string): Promise<boolean>;
}

interface ConsentCall {
  id: string;
  request: Request;
  response: Response;
  caller: Caller;
}

const DECISION = z.strictObject({ decision: z.enum(['allow', 'deny']).describe('What the owner of the wallet decides') });

/** GET: the page. POST: the decision, by the page's script; the answer names where the browser continues. */
export async function serveConsent(deps: ConsentDeps, call: ConsentCall): Promise<void> {
  const { request, response } = call;
  if (request.method === 'GET') return showPage(deps, call);
  if (request.method !== 'POST') {
    response.set('Allow', 'GET, POST');
    throw methodNotAllowed('POST');
  }
  // The cookie of the interaction is `SameSite=Lax` already; this holds where a browser ignores that.
  const crossSite = findCrossSiteError(request);
  if (crossSite !== null) throw crossSite;
  const redirectTo = await decide(deps, call);
  response.type('application/json').send(JSON.stringify({ success: true, redirectTo }));
}

async function showPage(deps: ConsentDeps, { id, request, response }: ConsentCall): Promise<void> {
  const consent = await deps.server.getConsentRequest(request, response, id);
  response.set(CONSENT_HEADERS).send(renderConsentPage(consent, deps));
}

/** @throws OracleError INPUT_INVALID, UNAUTHENTICATED, TIER_REQUIRED, NOT_FOUND */
async function decide({ server, logOut }: ConsentDeps, { id, request, response, caller }: ConsentCall): Promise<string> {
  const { decision } = parseInput(DECISION, request.body ?? {}, { kind: 'body field', root: 'body' });
  if (decision === 'deny') return server.deny(request, response, id);
  requireTier(caller, 'basic');
  const { wallet, tier, sessionId } = caller;
  // Standing access is granted by a signature of this moment, never by other standing access.
  if (wallet === undefined || sessionId === undefined)
    throw unauthenticated('Only the session of a wallet that has signed can allow an application');
  if (tier === 'public') throw new OracleError('INTERNAL', 'A caller passed the check of a tier that it does not have');
  const redirectTo = await server.allow(request, response, { id, wallet, tier });
  await logOut(sessionId);
  return redirectTo;
}

import type { Request, Response } from 'express';
import type { Address } from 'viem';
import { z } from 'zod';
import type { AuthService } from '../../../auth/auth-service.ts';
import type { ConsentRequest, OAuthServer } from '../../../auth/oauth/provider/oauth-server.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import { type PaidTier, tierRequired } from '../../../auth/tiers/tiers.ts';
import { OracleError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { SIGNED_BODY } from '../access/schemas.ts';
import { walletInput } from '../server/parsing/wallet-parameters.ts';
import { findCrossSiteError } from '../server/security/same-origin.ts';
import { CONSENT_HEADERS, renderConsentPage } from './consent-page.ts';
import { methodNotAllowed } from './method-not-allowed.ts';

export interface ConsentDeps {
  server: Pick<OAuthServer, 'getConsentRequest' | 'allow' | 'deny'>;
  access: Pick<AuthService, 'acts' | 'getGateBalance'>;
  publicUrl: string;
  hasDemoWallets: boolean;
}

interface ConsentCall {
  id: string;
  request: Request;
  response: Response;
  context: Pick<RequestContext, 'countChainCall'>;
}

/** `sign` gives the text that a wallet signs for this application, `allow` brings it back. */
const DECISION = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('deny') }),
  z.strictObject({ decision: z.literal('sign'), wallet: walletInput }),
  z.strictObject({ decision: z.literal('allow'), ...SIGNED_BODY.shape }),
]);

/** GET: the page. POST: the decision, by the page's script; the answer has the text to sign, or where the browser continues. */
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
  response.type('application/json').send(JSON.stringify({ success: true, ...(await decide(deps, call)) }));
}

async function showPage(deps: ConsentDeps, { id, request, response }: ConsentCall): Promise<void> {
  const consent = await deps.server.getConsentRequest(request, response, id);
  response.set(CONSENT_HEADERS).send(renderConsentPage(consent, deps));
}

/** @throws OracleError INPUT_INVALID, UNAUTHENTICATED, TIER_REQUIRED, CONFLICT, NOT_FOUND, CHAIN_UNREACHABLE */
async function decide(deps: ConsentDeps, call: ConsentCall): Promise<{ message: string } | { redirectTo: string }> {
  const { id, request, response, context } = call;
  const { server, access } = deps;
  const input = parseInput(DECISION, request.body ?? {}, { kind: 'body field', root: 'body' });
  if (input.decision === 'deny') return { redirectTo: await server.deny(request, response, id) };
  await context.countChainCall();
  const consent = await server.getConsentRequest(request, response, id);
  if (input.decision === 'sign') {
    const { wallet } = input;
    // A wallet that can allow nothing is rejected before it signs.
    await readPaidTier(deps, wallet);
    const { message } = await access.acts.compose(wallet, { kind: 'allow-application', ...toAct(consent) });
    return { message };
  }
  const redirectTo = await access.acts.redeem('allow-application', input, async (wallet, act) => {
    const { request: signedFor, client: name } = toAct(consent);
    if (act.request !== signedFor || act.client !== name) throw signedForAnother();
    return server.allow(request, response, { id, wallet, name, tier: await readPaidTier(deps, wallet) });
  });
  return { redirectTo };
}

function toAct({ id, client, tier }: ConsentRequest) {
  return { request: id, client, tier };
}

/** @throws OracleError TIER_REQUIRED, CHAIN_UNREACHABLE */
async function readPaidTier({ access }: ConsentDeps, wallet: Address): Promise<PaidTier> {
  const gate = await access.getGateBalance(wallet);
  if (gate.tier === 'public') throw tierRequired('basic', gate);
  return gate.tier;
}

function signedForAnother(): OracleError {
  return new OracleError('UNAUTHENTICATED', 'This text was signed for another request of an application', {
    field: 'message',
    suggestedAction: 'Sign the text of this page.',
  });
}

import type { ConsentRequest } from '../../../auth/oauth/provider/oauth-server.ts';
import { OAUTH_PATHS } from '../../../auth/oauth/resources.ts';
import { formatTierRequirement, type PaidTier } from '../../../auth/tiers/tiers.ts';
import { el, type Markup } from '../../../views/markup.ts';
import { PAGE_HEADERS, renderPage } from '../page/shell.ts';

/** Unlike other pages it connects to this service alone. Neither stored, nor framed, nor named to where the browser goes next. */
export const CONSENT_HEADERS = {
  ...PAGE_HEADERS,
  'Content-Security-Policy': PAGE_HEADERS['Content-Security-Policy']
    .replace(/connect-src [^;]+/, "connect-src 'self'")
    .replace("frame-src 'self'; ", ''),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

interface ConsentPageOptions {
  publicUrl: string;
  /** Whether the demo wallets of a local chain can sign. */
  hasDemoWallets: boolean;
}

/** The page on which a wallet allows an application to use its tier; the script adds the wallets of the browser. */
export function renderConsentPage(consent: ConsentRequest, { publicUrl, hasDemoWallets }: ConsentPageOptions): string {
  const { id, client } = consent;
  const body = el('main', { id: 'main', tabindex: -1, class: 'consent' }, [
    el('h1', {}, `Allow ${client} to read forecasts?`),
    el('p', { class: 'notice' }, formatIdentity(consent)),
    renderConsentFacts(consent),
    el(
      'p',
      {},
      'Your wallet signs a text that names this application: a signature, not a transaction. It is free and moves no funds. The application never learns the signature.',
    ),
    el('noscript', {}, el('p', { class: 'notice' }, 'Signing needs JavaScript.')),
    el('div', { id: 'consent-choice', 'data-id': id, 'data-demo': hasDemoWallets ? 'yes' : null }),
    el('p', { id: 'consent-status', role: 'status' }),
    el('p', {}, el('button', { id: 'consent-deny', type: 'button' }, 'Cancel')),
  ]);
  return renderPage(publicUrl, {
    title: 'Allow an application',
    path: `${OAUTH_PATHS.consent.slice(1)}/${id}`,
    kind: 'consent',
    bundle: 'consent',
    body,
  });
}

function formatIdentity({ claimedName, documentHost, redirectHost }: ConsentRequest): string {
  const claim = claimedName === null ? '' : `It calls itself “${claimedName}”, which is not verified. `;
  if (documentHost !== null) return `${claim}This service has checked that its description is published by ${documentHost}.`;
  return `${claim}Your permission goes to ${redirectHost}: go on only if you have just connected it there.`;
}

function renderConsentFacts({ redirectHost, tier }: ConsentRequest): Markup {
  const facts = [
    ['It may', formatAllowance(tier)],
    ['Your wallet needs', formatTierRequirement('basic')],
    ['Until', 'you revoke it, or the tokens leave the wallet; for a year at most'],
    ['Afterwards you go to', redirectHost],
  ] as const;
  return el(
    'dl',
    { class: 'facts' },
    facts.map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value))),
  );
}

function formatAllowance(tier: PaidTier): string {
  if (tier === 'basic') return 'read forecasts over MCP with the Basic tier of your wallet, and nothing else';
  return 'read forecasts over MCP with the tier of your wallet, up to Premium, and nothing else';
}

/** Why an authorization cannot go on, where there is no application to send the browser back to. */
export function renderOAuthErrorPage(publicUrl: string, problem: string): string {
  const body = el('main', { id: 'main', tabindex: -1 }, [
    el('h1', {}, 'The application cannot be connected'),
    el('p', {}, problem),
    el('p', {}, 'Nothing was allowed. You can close this page.'),
  ]);
  return renderPage(publicUrl, { title: 'Not connected', path: '', kind: 'document', body });
}

import { PAID_RESOURCES } from '../../../commerce/price-list.ts';
import { parseHorizonDays } from '../../../forecast/horizon-input.ts';
import { toSessionReply } from '../auth/routes.ts';
import { SESSION_REPLY } from '../auth/schemas.ts';
import { buildPaidResource } from '../commerce/x402/paid-route.ts';
import type { HttpDeps } from '../deps.ts';
import { type Route, route } from '../server/route.ts';
import { DEMO_PATHS, type DemoWallets } from './demo-wallets.ts';
import { DEMO_LOGIN_BODY, DEMO_PAYMENT_BODY, DEMO_PAYMENT_REPLY, DEMO_SIGNATURE_BODY, DEMO_SIGNATURE_REPLY } from './schemas.ts';

type DemoDeps = Pick<HttpDeps, 'commerce' | 'demo' | 'now' | 'publicUrl'>;

const LOCAL_CHAIN_ONLY = 'Exists with a local chain only, whose tokens and money have no value. Answers no page of another origin.';

/** Operations of the demo wallets. A service on a real chain has none of them. */
export function demoRoutes(deps: DemoDeps): Route[] {
  return deps.demo === null ? [] : [loginRoute(deps, deps.demo), signatureRoute(deps.demo), paymentRoute(deps, deps.demo)];
}

function loginRoute({ now }: DemoDeps, demo: DemoWallets): Route {
  return route(`POST ${DEMO_PATHS.login}`, 'logInDemoWallet', {
    tag: 'access',
    cost: 'rpc',
    ownPagesOnly: true,
    summary: 'Access token of a demo wallet, which signs the login message in this process',
    description: LOCAL_CHAIN_ONLY,
    body: DEMO_LOGIN_BODY,
    reply: SESSION_REPLY,
    errors: ['UNAUTHENTICATED', 'CHAIN_UNREACHABLE'],
    handle: async ({ body }) => ({ body: toSessionReply(await demo.logIn(body.role), now()) }),
  });
}

function signatureRoute(demo: DemoWallets): Route {
  return route(`POST ${DEMO_PATHS.signature}`, 'signAsDemoWallet', {
    tag: 'access',
    ownPagesOnly: true,
    summary: 'Signature of a demo wallet over a text that this service has composed for it, made in this process',
    description: LOCAL_CHAIN_ONLY,
    body: DEMO_SIGNATURE_BODY,
    reply: DEMO_SIGNATURE_REPLY,
    errors: ['UNAUTHENTICATED'],
    handle: async ({ body: { role, message } }) => ({ body: { success: true as const, signature: await demo.sign(role, message) } }),
  });
}

function paymentRoute({ commerce, publicUrl }: DemoDeps, demo: DemoWallets): Route {
  return route(`POST ${DEMO_PATHS.payment}`, 'signDemoPayment', {
    tag: 'commerce',
    ownPagesOnly: true,
    summary: 'Signed x402 payment of the demo buyer for one answer of this service',
    description: `${LOCAL_CHAIN_ONLY} The buyer has a budget; the payment is charged when the paid request is answered.`,
    body: DEMO_PAYMENT_BODY,
    reply: DEMO_PAYMENT_REPLY,
    errors: ['UNAUTHENTICATED', 'STEP_WAITING'],
    async handle({ body: { offering: name, horizon } }) {
      const offering = PAID_RESOURCES.find((one) => one.name === name)!;
      const resource = buildPaidResource(offering, publicUrl, parseHorizonDays(horizon));
      const payment = await demo.authorize(commerce.sales.getQuote({ offering, resource }));
      return { body: { success: true as const, payment } };
    },
  });
}

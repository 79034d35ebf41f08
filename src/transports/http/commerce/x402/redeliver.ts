import { SIGN_IN_HEADER } from '../../../../auth/login/sign-in-with-x.ts';
import type { RequestContext } from '../../../../auth/request-context.ts';
import type { PaidCall, SaleResult } from '../../../../commerce/x402/paid-call.ts';
import { PaymentRequiredError } from '../../../../commerce/x402/protocol/payment-quote.ts';
import type { SalesService } from '../../../../commerce/x402/sales-service.ts';
import type { HttpDeps } from '../../deps.ts';

interface SignedInCall {
  call: PaidCall;
  context: RequestContext;
  /** Header `SIGN-IN-WITH-X`. */
  signIn: string;
}

/**
 * The answer that the signed-in wallet has bought with the same request, free of charge; null when it has not, and the request has a
 * payment. @throws PaymentRequiredError without one; errors of `verifySignIn`; OracleError CONFLICT for a used nonce, RATE_LIMITED
 */
export async function redeliver(
  { access, sales }: Pick<HttpDeps, 'access'> & { sales: SalesService },
  { call, context, signIn }: SignedInCall,
): Promise<SaleResult | null> {
  // The signature of a contract wallet is checked on chain.
  await context.countChainCall();
  const { wallet, useNonce } = await access.verifySignIn(signIn);
  const bought = await sales.findBought(call, wallet);
  if (bought !== null) {
    await useNonce();
    return bought;
  }
  if (call.payment !== null) return null;
  const problem = `${wallet} has not bought this answer: its newest forecast is unpaid, or was paid longer ago than answers are kept`;
  throw new PaymentRequiredError(await sales.getSignedQuote(call), 'payment_required', problem, { field: `${SIGN_IN_HEADER}.address` });
}

import { ApiProblem, fetchFromService, requestApi, toApiProblem } from '../state/api.ts';
import type { SignedPayment } from './authorization.ts';
import type { PaidAnswer } from './purchase.ts';
import type { PaymentTerms } from './terms.ts';

/** Pays a request. @throws {ApiProblem} UNREACHABLE also for a reply that was cut off */
export async function deliverPayment(path: string, payment: SignedPayment): Promise<PaidAnswer> {
  const headers = { accept: 'application/json', 'PAYMENT-SIGNATURE': btoa(JSON.stringify(payment)) };
  const response = await fetchFromService(path, { headers });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw response.ok ? new ApiProblem({ code: 'UNREACHABLE', detail: 'The reply was cut off' }) : toApiProblem(response, answer);
}

/** The payment of the demo buyer, signed by the service, for the terms shown. @throws {ApiProblem} */
export async function signAsDemoBuyer(horizonDays: number, { accepted }: PaymentTerms): Promise<SignedPayment> {
  const body = { offering: 'x402_signal', horizon: `${horizonDays}d` };
  const { payment } = await requestApi<{ payment: SignedPayment }>('api/demo/payment', { method: 'POST', body });
  const { to, value } = payment.payload.authorization;
  if (to === accepted.payTo && value === accepted.amount) return payment;
  throw new ApiProblem({ code: 'UNEXPECTED', detail: 'The payment is not for the terms shown' });
}

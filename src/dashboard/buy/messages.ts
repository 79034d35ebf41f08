import { toSentence } from '../lib/format-text.ts';
import type { ApiProblem } from '../state/api.ts';
import type { PurchaseState } from './purchase.ts';

/** The state of a purchase in a sentence, with what to do about a problem. */
export function formatPurchase(state: PurchaseState): { text: string; isProblem: boolean } {
  if (state.step === 'signing') return { text: 'Sign the payment.', isProblem: false };
  if (state.step === 'paying') return { text: formatPaying(state.attempt), isProblem: false };
  if (state.step === 'failed') return { text: toSentence(state.message), isProblem: true };
  if (state.step === 'rejected') return { text: formatRejection(state.problem), isProblem: true };
  if (state.step === 'used') return { text: formatUsed(state.problem), isProblem: true };
  if (state.step === 'unknown') return { text: formatUnknown(state.problem), isProblem: true };
  return { text: '', isProblem: false };
}

function formatPaying(attempt: number) {
  return attempt === 1 ? 'Paying, and waiting for the call…' : `No answer yet. Sending the same payment again (${attempt})…`;
}

function formatRejection({ code, message, suggestedAction, facts }: ApiProblem) {
  const reason = String(facts.reason ?? facts.error);
  if (/insufficient|balance/.test(reason))
    return `Nothing was paid. ${toSentence(message)} ${suggestedAction ?? 'Pay from another wallet.'}`;
  if (/expire|valid_before/.test(reason)) return 'The payment expired before it was used. Nothing was paid. Pay again.';
  if (code === 'CONFLICT') return 'This payment was for another request. Pay again.';
  return `Nothing was paid. ${toSentence(message)}`;
}

function formatUsed({ message }: ApiProblem) {
  return `The payment was used, but no call came. ${toSentence(message)} Do not pay again: ask the operator.`;
}

function formatUnknown({ message }: ApiProblem) {
  return `It is not known yet whether it was paid. ${toSentence(message)} Ask again: the same payment is sent and never charged twice.`;
}

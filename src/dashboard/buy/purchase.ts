import { ApiProblem } from '../state/api.ts';
import { notifyAll } from '../state/notify.ts';
import { type SignedPayment, SigningError } from './authorization.ts';

/** A paid answer, or a free one: `payment` and `receipt` are null then. */
export interface PaidAnswer {
  charged: boolean;
  [member: string]: unknown;
}

/** `unknown`: it is not known whether it was paid; only the same payment may be sent. */
export type PurchaseState =
  | { step: 'idle' }
  | { step: 'signing' }
  | { step: 'paying'; attempt: number }
  | { step: 'failed'; message: string }
  | { step: 'rejected' | 'used' | 'unknown'; problem: ApiProblem }
  | { step: 'bought'; answer: PaidAnswer };

interface PendingPayment {
  payment: SignedPayment;
  /** Who signed, as the caller of `pay` names it. */
  payer: string;
  /** The service has said that it has not used it. */
  isUnused: boolean;
  /** Time of its answer, in epoch milliseconds: another tab that was about to pay gets the same one. */
  answeredMs?: number;
}

export interface PurchaseDeps {
  /** Path of the paid request. */
  path: string;
  /** Shared by the tabs of this browser. */
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  /** Sends the payment. @throws {ApiProblem} of the service, or UNREACHABLE */
  deliver: (payment: SignedPayment) => Promise<PaidAnswer>;
  pause: (ms: number) => Promise<void>;
  now?: () => number;
}

export type Purchase = ReturnType<typeof createPurchase>;

const MAX_ATTEMPTS = 5;
const MAX_PAUSE_MS = 15_000;
/** Codes by which the service decides about a payment; after any other one its outcome is unknown. */
const DECIDED = new Set(['PAYMENT_REQUIRED', 'CONFLICT', 'INPUT_INVALID', 'NOT_FOUND']);

/**
 * One answer for one payment: it is stored before it is sent, and sent again until its outcome is known, after a reload too. No other one is
 * signed until then.
 */
export function createPurchase({ path, storage, deliver, pause, now = Date.now }: PurchaseDeps) {
  const key = `oracle-payment:${path}`;
  const listeners = new Set<() => void>();
  let state: PurchaseState = { step: 'idle' };
  let running: Promise<void> | null = null;
  /** Start of the run whose payment may be undecided. */
  let sinceMs = now();

  function setState(next: PurchaseState) {
    state = next;
    notifyAll(listeners, undefined);
  }

  function load(): PendingPayment | null {
    try {
      return JSON.parse(storage.getItem(key) ?? 'null');
    } catch {
      return null;
    }
  }
  const save = (pending: PendingPayment) => storage.setItem(key, JSON.stringify(pending));
  const isOver = ({ payment }: PendingPayment) => now() >= 1_000 * Number(payment.payload.authorization.validBefore);

  /** The payment that must be sent instead of a new one. */
  function findBinding(payer: string) {
    const pending = load();
    if (pending === null) return null;
    if (pending.answeredMs !== undefined) return pending.answeredMs >= sinceMs ? pending : null;
    return pending.isUnused && (isOver(pending) || pending.payer !== payer) ? null : pending;
  }

  async function signAndSend(payer: string, sign: () => Promise<SignedPayment>) {
    // An undecided payment may be answered in another tab meanwhile.
    if (state.step !== 'unknown') sinceMs = now();
    if (findBinding(payer) === null) {
      setState({ step: 'signing' });
      const payment = await sign();
      // Another tab may have paid while the wallet was open.
      if (findBinding(payer) === null) save({ payment, payer, isUnused: false });
    }
    await send();
  }

  async function send() {
    const stored = load();
    if (stored === null) return;
    const pending = { ...stored, isUnused: false };
    // What was said of it earlier ends with the next attempt.
    if (pending.answeredMs === undefined) save(pending);
    for (let attempt = 1; ; attempt++) {
      setState({ step: 'paying', attempt });
      try {
        return finish(pending, await deliver(pending.payment));
      } catch (problem) {
        if (!(problem instanceof ApiProblem)) throw problem;
        if (DECIDED.has(problem.code)) return reject(pending, problem);
        // Another tab may have been rejected with the same payment.
        if (pending.answeredMs === undefined) save(pending);
        if (attempt === MAX_ATTEMPTS) return setState({ step: 'unknown', problem });
        await pause(Math.min(MAX_PAUSE_MS, Math.max(1_000 * attempt, 1_000 * (problem.retryAfterSeconds ?? 0))));
      }
    }
  }

  function finish(pending: PendingPayment, answer: PaidAnswer) {
    // An unused authorization serves the next request, so that no second one is signed while it is valid.
    save(answer.charged ? { ...pending, answeredMs: now() } : { ...pending, isUnused: true });
    setState({ step: 'bought', answer });
  }

  function reject(pending: PendingPayment, problem: ApiProblem) {
    if (/nonce|spent|used/.test(String(problem.facts.reason))) return setState({ step: 'used', problem });
    if (isOver(pending) || problem.code === 'CONFLICT') storage.removeItem(key);
    else save({ ...pending, isUnused: true });
    setState({ step: 'rejected', problem });
  }

  /** One run at a time: a second click joins the first. */
  function runOnce(work: () => Promise<void>) {
    running ??= work()
      .catch((error) => {
        if (!(error instanceof SigningError) && !(error instanceof ApiProblem)) reportError(error);
        setState({ step: 'failed', message: error instanceof Error ? error.message : 'The payment failed.' });
      })
      .finally(() => {
        running = null;
      });
    return running;
  }

  return {
    get state() {
      return state;
    },
    onChange(listener: () => void) {
      listeners.add(listener);
    },
    /** @param sign asked only where no earlier payment is undecided */
    pay: (payer: string, sign: () => Promise<SignedPayment>) => runOnce(() => signAndSend(payer, sign)),
    /** Sends an undecided payment again, such as after a reload. */
    async resume() {
      const pending = load();
      if (pending === null || pending.isUnused) return;
      if (pending.answeredMs === undefined || state.step === 'unknown') await runOnce(send);
    },
    /** Shows an answer that was bought before. */
    restore: (answer: PaidAnswer) => setState({ step: 'bought', answer }),
    /** Back to the terms; an undecided payment is kept. */
    reset: () => setState({ step: 'idle' }),
    /** Gives up a payment that was used without an answer. */
    forget() {
      storage.removeItem(key);
      setState({ step: 'idle' });
    },
  };
}

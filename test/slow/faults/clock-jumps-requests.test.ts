import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PurchaseStore } from '../../../src/commerce/purchases.ts';
import { createPaymentTraces, reconcile } from '../../../src/commerce/reconcile.ts';
import { CLAIM_LEASE_MS } from '../../../src/commerce/x402/claims.ts';
import { demoWallets, signedLogin } from '../../support/auth/login.ts';
import { CLOCK_JUMPS } from '../../support/clock/jumping-clock.ts';
import { jumpProcessClock, type ProcessClock } from '../../support/clock/process-clock.ts';
import { signPayment } from '../../support/commerce/x402.ts';
import { atCommand } from '../../support/faults/command-moments.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { type FaultedTill, openFaultedTill } from '../../support/faults/faulted-till.ts';
import { jsonRequest } from '../../support/faults/patient-client.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { type TestService, testService } from '../../support/service/service.ts';

/** Commands that a payment and a login make, at least. */
const PAYMENT_COMMANDS = 16;
const LOGIN_COMMANDS = 4;
/** Of the client: after it, the correct clock is back. */
const PATIENCE = { maxRepeats: 40, pauseMs: 50 };

let clock: ProcessClock;
afterEach(() => clock.restore());

describe('a payment', () => {
  let till: FaultedTill;
  let connected: Awaited<ReturnType<FaultedTill['chain']['connect']>>;
  beforeAll(async () => {
    till = await openFaultedTill();
    connected = await till.chain.connect();
  });
  afterAll(() => till?.close());

  async function countDifferences(): Promise<number> {
    const { bench, database, chain } = till;
    const traces = createPaymentTraces({ chainId: chain.chainId, claims: bench.claims, purchases: new PurchaseStore(database.direct.db) });
    const parts = { ledger: bench.ledger, merchant: bench.merchant, provider: bench.merchant.payee, traces };
    const report = await reconcile({ chain: connected, ...parts, now: () => new Date(), graceMs: 0 }, 0n);
    return report.differences.length + report.underWay.length;
  }

  it.each(CLOCK_JUMPS)('is settled once, and its lease keeps its length, when the clock jumps %s', async (name, aheadMs) => {
    const { bench, database, readIncome } = till;
    let jumps = 0;
    for (let command = 1; command <= PAYMENT_COMMANDS; command++) {
      const income = await readIncome();
      const payment = await signPayment({ account: bench.buyer, requirements: bench.requirements });
      clock = jumpProcessClock();
      atCommand(database.proxy, command, () => {
        jumps += 1;
        clock.setAhead(aheadMs);
      });
      const began = performance.now();
      const first = await bench.sales.sell(bench.call(payment)).catch((error: unknown) => error);
      clock.restore();
      database.proxy.plan(null);
      const sold = await repeatWhileRetryable(() => bench.sales.sell(bench.call(payment)), PATIENCE);
      const where = `${name} at command ${command}, then ${first instanceof Error ? first.message : 'sold'}`;
      expect(performance.now() - began, where).toBeLessThan(CLAIM_LEASE_MS / 2);
      expect((await readIncome()) - income, where).toBe(1_000n);
      expect(await bench.ledger.payments.countDocuments({ txHash: sold.payment!.txHash })).toBe(1);
      await bench.sales.sweep();
      expect((await readIncome()) - income, where).toBe(1_000n);
    }
    expect(await countDifferences()).toBe(0);
    process.stdout.write(`payments: ${jumps} jumps of the clock ${name}\n`);
  });
});

describe('a login', () => {
  let database: FaultedDatabase;
  let service: TestService;
  let served: Served;
  beforeAll(async () => {
    database = await faultedDatabase();
    service = await testService(0, { MONGODB_URI: database.proxy.uri });
    served = await serve(service);
  });
  afterAll(async () => {
    await served.close();
    await service.stop();
    await database.drop();
  });

  const logIn = (body: object) => fetch(`${served.url}/api/svc/oracle/verify`, jsonRequest('POST', body));
  const isAccepted = async (token: string) =>
    (await fetch(`${served.url}/api/svc/oracle/session`, { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })).status < 300;

  it.each(CLOCK_JUMPS)('opens at most one session, valid for no more than 31 minutes, when the clock jumps %s', async (name, aheadMs) => {
    const { basic } = demoWallets(service);
    let [jumps, opened] = [0, 0];
    for (let command = 1; command <= LOGIN_COMMANDS; command++) {
      const sessions = await database.direct.db.collection('sessions').countDocuments();
      // A time of its own for each signature, in the past.
      const body = await signedLogin(basic, Date.now() - 30_000 - command);
      clock = jumpProcessClock();
      atCommand(database.proxy, command, () => {
        jumps += 1;
        clock.setAhead(aheadMs);
      });
      const reply = await logIn(body);
      const { token } = (await reply.json()) as { token?: string };
      database.proxy.plan(null);
      clock.restore();
      // A limit whose window began later than the clock now says is used up for that clock.
      expect([200, 401, 429], `${name} at command ${command}`).toContain(reply.status);
      // The same message again has no effect, whichever clock took it first.
      if (reply.status === 200) expect((await logIn(body)).status).toBe(409);
      expect(await database.direct.db.collection('sessions').countDocuments()).toBe(sessions + (reply.status === 200 ? 1 : 0));
      if (token === undefined) continue;
      opened += 1;
      clock = jumpProcessClock();
      clock.setAhead(31 * 60_000);
      expect(await isAccepted(token), 'after 31 minutes').toBe(false);
      clock.restore();
    }
    process.stdout.write(`logins: ${jumps} jumps of the clock ${name}, ${opened} sessions\n`);
  });
});

import { serve } from '../../test/support/http/serve.ts';
import { unresolvedService } from '../../test/support/service/service.ts';
import { answerParent } from '../lib.ts';
import type { FacilitatorChain } from './facilitator-process.ts';
import { serveStock } from './stock-server.ts';

const [facilitatorUrl, mode] = process.argv.slice(2);

/** The whole service with an unresolved forecast, and the stock middleware with the same handler, in one process. */
const service = await unresolvedService(1, {
  ...(mode === 'remote' ? { X402_FACILITATOR_URL: facilitatorUrl } : {}),
});
service.progress.complete();
const { url } = await serve({ ...service, appOptions: { ...service.appOptions, reusesAnswers: true } });

const answers = {
  url: () => url,
  /** Address of the stock server; the facilitator must have its chain before. */
  stockUrl: () => serveStock(service.http, facilitatorUrl),
  chain(): FacilitatorChain {
    const { rpcUrl, demo } = service.infrastructure;
    // A wallet with gas that nothing else sends from.
    return { rpcUrl, chainId: service.http.commerce.merchant.chainId, key: demo!.wallets.poor.privateKey };
  },
  /** CPU time of this process so far, without that of its database and chain. */
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
  buyer: () => service.infrastructure.demo!.wallets.buyer.privateKey,
  stop: () => service.stop(),
};

export type PaidServiceAnswers = typeof answers;

answerParent(answers);

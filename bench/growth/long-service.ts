import { asTier } from '../../test/support/auth/login.ts';
import { fetchOpenApi } from '../../test/support/http/openapi.ts';
import { serve } from '../../test/support/http/serve.ts';
import { lengthenDays } from '../../test/support/interface-client/lengthen-days.ts';
import { lengthenRecord } from '../../test/support/interface-client/record-states.ts';
import { parameterValues, variantsOf } from '../../test/support/record/public-walk.ts';
import { fullService } from '../../test/support/service/full-service.ts';

export interface LongService {
  url: string;
  /** Headers of a Premium caller. */
  premium: Record<string, string>;
  /** A request for each operation that only reads, by its id. */
  reads: { operationId: string; path: string; headers: Record<string, string> }[];
  stop(): Promise<void>;
}

/** A service with a record of `days` days, copies of a short one. */
export async function startLongService(days: number): Promise<LongService> {
  const service = await fullService();
  const premium = await asTier(service, 'premium');
  const { url, close } = await serve(service);
  const variants = variantsOf(await fetchOpenApi(url), await parameterValues(service));
  const firstOf = new Map(variants.toReversed().map((variant) => [variant.operationId, variant]));
  await lengthenRecord(service, days);
  await lengthenDays(service, days);
  await service.pipeline.figures.refresh();
  return {
    url,
    premium,
    reads: [...firstOf.values()].map(({ operationId, path, accept }) => ({ operationId, path, headers: { ...premium, Accept: accept } })),
    async stop() {
      await close();
      await service.stop();
    },
  };
}

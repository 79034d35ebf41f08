import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Info } from '../../src/transports/http/service/about/info-schemas.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { type RpcProxy, rpcProxy } from '../support/chain/rpc-proxy.ts';
import { describeWithBrowser } from '../support/docs/browser.ts';
import { type Served, serve } from '../support/http/serve.ts';
import { registerSchemas, type WrittenRecord, writeRecord } from '../support/record/audit-record.ts';
import { findUids, INDEX, lieAbout, PLANTED } from '../support/record/planted.ts';
import { type TestService, testService } from '../support/service/service.ts';

/** The service has no forecasts, so its claims differ from any record. */
const CLAIMS = ['shown', 'row', 'figure'];

describeWithBrowser('a tampered record in the browser', (browser) => {
  let chain: TestChain;
  let proxy: RpcProxy;
  let service: TestService;
  let served: Served;
  let honest: WrittenRecord;
  beforeAll(async () => {
    chain = await testChain();
    await registerSchemas(chain);
    proxy = await rpcProxy(chain.rpcUrl);
    service = await testService(1);
    service.progress.complete();
    served = await serve(service);
    honest = await writeRecord(chain);
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
    await proxy?.close();
    await chain?.stop();
  });

  /** The ids of the checks that fail on the page, for a record on that endpoint. */
  async function checkOnPage(rpcUrl: string, { attester, now }: WrittenRecord): Promise<string[]> {
    const page = await browser.open(served.url, {
      init: async (opening) => {
        opening.setDefaultTimeout(20_000);
        await opening.clock.setFixedTime(now);
        await opening.route('**/api/svc/info', async (route) => {
          const info = (await (await route.fetch()).json()) as Info;
          await route.fulfill({ json: { ...info, chain: { ...info.chain, attester } } });
        });
        await opening.route('**/rpc', async (route) => {
          const answer = await fetch(rpcUrl, {
            method: 'POST',
            body: route.request().postData(),
            headers: { 'content-type': 'application/json' },
          });
          await route.fulfill({ json: await answer.json() });
        });
      },
    });
    const section = page.locator('.check-record');
    await section.getByRole('button', { name: 'Check everything now' }).click();
    await section.getByText('Download the report').waitFor();
    const text = (await section.locator('pre').textContent()) ?? '';
    expect(page.problems()).toEqual([]);
    return [...text.matchAll(/^ +\[(\w+)\] /gm)].map(([, check]) => check);
  }

  it('an honest record differs from the claims of another service alone', async () => {
    const failed = await checkOnPage(chain.rpcUrl, honest);
    expect(failed.filter((check) => !CLAIMS.includes(check))).toEqual([]);
  });

  describe.each(PLANTED.filter(({ by }) => by === undefined || by.includes('svc verify all')))('$what', ({ check, record, lie }) => {
    it(`fails ${check}`, async () => {
      const written = record === undefined ? honest : await writeRecord(chain, record, INDEX + 2);
      if (lie !== undefined) proxy.hooks = lieAbout((await findUids(chain.rpcUrl, written))[lie.about], lie.change);
      expect(await checkOnPage(lie === undefined ? chain.rpcUrl : proxy.url, written)).toContain(check);
    });
  });
});

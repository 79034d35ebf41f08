import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuditReport, audit } from '../../../src/audit/audit.ts';
import { openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { bundlePageChecks } from '../../page/checks/bundle.ts';
import type { PageInfo } from '../../page/checks/entry.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { type RpcProxy, rpcProxy } from '../../support/chain/rpc-proxy.ts';
import { describeWithBrowser, type OpenPage } from '../../support/docs/browser.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { registerSchemas, type WrittenRecord, writeRecord } from '../../support/record/audit-record.ts';
import { findUids, INDEX, lieAbout, PLANTED, type Planted } from '../../support/record/planted.ts';
import { type TestService, testService } from '../../support/service/service.ts';

/** The service has no forecasts, so its claims differ from any record. */
const CLAIMS = ['shown', 'row', 'figure', 'distributions'];
const FOUND_WITHOUT_PRICES = PLANTED.filter(({ by }) => by === undefined || by.includes('svc verify all'));

/** One change of each kind of evidence: what is attested, what an endpoint answers, and what is missing. */
const SHOWN = ['salt: replaced', 'prediction, data: a byte', 'day: left out'].map((name) => PLANTED.find(({ what }) => what === name)!);

interface Target {
  rpcUrl: string;
  written: WrittenRecord;
}

describeWithBrowser('a tampered record in the browser', (browser) => {
  let chain: TestChain;
  let proxy: RpcProxy;
  let service: TestService;
  let served: Served;
  let honest: WrittenRecord;
  let info: PageInfo;
  let script: string;
  beforeAll(async () => {
    chain = await testChain();
    await registerSchemas(chain);
    proxy = await rpcProxy(chain.rpcUrl);
    service = await testService(1);
    service.progress.complete();
    served = await serve(service);
    info = (await (await fetch(`${served.url}/api/svc/info`)).json()) as PageInfo;
    honest = await writeRecord(chain);
    script = await bundlePageChecks();
  });
  afterAll(async () => {
    await served?.close();
    await service?.stop();
    await proxy?.close();
    await chain?.stop();
  });

  const infoOf = ({ written: { attester } }: Target): PageInfo => ({ ...info, chain: { ...info.chain, attester } });

  /** The endpoint of the service answers from another chain. */
  const answerFrom = (rpcUrl: () => string) => async (route: Route) => {
    const request = { method: 'POST', body: route.request().postData(), headers: { 'content-type': 'application/json' } };
    await route.fulfill({ json: await (await fetch(rpcUrl(), request)).json() });
  };

  async function open(init: (page: Page) => Promise<unknown>): Promise<OpenPage> {
    return browser.open(served.url, {
      init: async (page) => {
        page.setDefaultTimeout(20_000);
        await init(page);
      },
    });
  }

  async function plant({ record, lie }: Planted): Promise<Target> {
    const written = record === undefined ? honest : await writeRecord(chain, record, INDEX + 2);
    if (lie === undefined) return { rpcUrl: chain.rpcUrl, written };
    proxy.hooks = lieAbout((await findUids(chain.rpcUrl, written))[lie.about], lie.change);
    return { rpcUrl: proxy.url, written };
  }

  async function auditInNode({ rpcUrl, written: { attester, now } }: Target): Promise<AuditReport['differences']> {
    const report = await audit({ chain: await openAuditChain({ rpcUrl }), attester, prices: null, claims: null, now });
    return JSON.parse(JSON.stringify(report.differences));
  }

  /** The ids of the checks that fail in the report of the page. */
  async function checkOnPage(target: Target): Promise<string[]> {
    const page = await open(async (opening) => {
      await opening.clock.setFixedTime(target.written.now);
      await opening.route('**/api/svc/info', (route) => route.fulfill({ json: infoOf(target) }));
      await opening.route(
        '**/rpc',
        answerFrom(() => target.rpcUrl),
      );
    });
    const section = page.locator('.check-record');
    await page.locator('#attestations').getByRole('link', { name: 'Check everything' }).click();
    await section.getByText('Download the report').waitFor();
    const text = (await section.locator('pre').textContent()) ?? '';
    expect(page.problems()).toEqual([]);
    return [...text.matchAll(/^ +\[(\w+)\] /gm)].map(([, check]) => check!);
  }

  it('differs from the claims of another service alone when it is honest', async () => {
    const failed = await checkOnPage({ rpcUrl: chain.rpcUrl, written: honest });
    expect(failed.filter((check) => !CLAIMS.includes(check))).toEqual([]);
  });

  it.each(SHOWN)('is reported on the page by the id of the check ($what)', async (planted) => {
    expect(await checkOnPage(await plant(planted))).toContain(planted.check);
  });

  it('has the same differences in Chromium as in Node for each planted change', async () => {
    let target: Target = { rpcUrl: chain.rpcUrl, written: honest };
    const page = await open(async (opening) => {
      await opening.addInitScript({ content: script });
      await opening.route(
        '**/rpc',
        answerFrom(() => target.rpcUrl),
      );
    });
    const auditInChromium = () =>
      page.evaluate((request) => globalThis.pageChecks.checkRecord(request), {
        ...{ info: infoOf(target), nowMs: target.written.now.getTime(), withClaims: false },
      });
    expect(await auditInChromium()).toEqual([]);
    for (const planted of FOUND_WITHOUT_PRICES) {
      target = await plant(planted);
      const found = await auditInChromium();
      expect.soft(found, planted.what).toEqual(await auditInNode(target));
      expect.soft(found, planted.what).toContainEqual(expect.objectContaining({ check: planted.check }));
    }
    expect(page.problems()).toEqual([]);
  });
});

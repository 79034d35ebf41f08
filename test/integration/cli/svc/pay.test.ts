import { mkdtemp, readdir } from 'node:fs/promises';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, erc20Abi, http } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { asHeader, readHeader } from '../../../support/commerce/payments.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { type CliOptions, cli, demoOf } from '../../../support/service/cli.ts';
import { type TestService, unresolvedService } from '../../../support/service/service.ts';

let service: TestService;
let server: Served;
let home: string;
beforeAll(async () => {
  service = await unresolvedService(1);
  service.progress.complete();
  server = await serve(service);
  home = await mkdtemp(join(tmpdir(), 'oracle-cli-pay-'));
});
afterAll(async () => {
  await server.close();
  await service.stop();
  await removeFolder(home);
});

let environment: Record<string, string>;
beforeEach(async () => {
  environment = { SERVICE_URL: server.url, XDG_CONFIG_HOME: await mkdtemp(join(home, 'config-')), NO_COLOR: '1' };
});

const pay = (words: string[], options: CliOptions = {}) => cli(['pay', ...words], { demo: demoOf(service), environment, ...options });
const buying = ['premium', '--wallet', 'buyer', '--yes'];

/** Pending payments on disk. */
const pending = () => readdir(join(environment.XDG_CONFIG_HOME, 'bitcoin-signal-oracle/payments')).catch(() => []);

async function balance(): Promise<bigint> {
  const { rpcUrl, contracts, wallets } = service.infrastructure.demo!;
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  const call = { address: contracts.stablecoin, abi: erc20Abi, functionName: 'balanceOf', args: [wallets.buyer!.address] } as const;
  return client.readContract(call);
}

type Meddle = (paid: string | undefined, request: IncomingMessage, response: ServerResponse, pass: () => void) => void;

/** A proxy between client and service. `pass` forwards a request; the test decides what else happens. */
async function between(meddle: Meddle): Promise<string> {
  const proxy = createServer((request, response) => {
    const pass = () => {
      const { url: path, method, headers } = request;
      const onward = httpRequest(`${server.url}${path}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    };
    meddle(request.headers['payment-signature'] as string | undefined, request, response, pass);
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => proxy.once('listening', listening));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe('svc pay', () => {
  it('shows the price, asks, pays once and checks the receipt', async () => {
    const before = await balance();
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return 'y';
    };
    const { code, out, err } = await pay(['premium', '--wallet', 'buyer'], { columns: 120, prompt: ask });
    expect(code, err + out).toBe(0);
    expect(questions).toEqual(['Pay 0.01 USD? [y/N] ']);
    expect(err).toMatch(
      /Price +0\.01 USD\n +To +0x\w{40}\n +In +USDC, 0x\w{40}\n +On +chain 84532, a local one whose money is worth nothing\n +From +0x\w{40}\n/,
    );
    expect(out).toMatch(/Paid +0\.01 USD at .*\n +Transaction +0x\w{64}\n/);
    expect(out.match(/^ {2}ok /gm)).toHaveLength(7);
    expect(out).toMatch(/ok +the x402 receipt is signed by the same seller\n +ok +it names the same payer, resource and transaction\n/);
    expect(before - (await balance())).toBe(10_000n);
    expect(await pending()).toEqual([]);
  });

  it('pays nothing when the user declines or there is no terminal', async () => {
    const before = await balance();
    const no = await pay(['premium', '--wallet', 'buyer'], { prompt: async () => '' });
    expect(no).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Nothing was paid.') });
    const nobody = await pay(['premium', '--wallet', 'buyer']);
    expect(nobody).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--yes: is required without a terminal') });
    expect(await balance()).toBe(before);
    expect(await pending()).toEqual([]);
  });

  it('signs and pays nothing while history is replayed', async () => {
    service.progress.replayAhead = true;
    onTestFinished(() => {
      service.progress.replayAhead = false;
    });
    const before = await balance();
    const { code, out, err } = await pay(buying);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^STEP_WAITING: History is being replayed: pay when it is done\nNothing was charged\./);
    expect(await balance()).toBe(before);
    expect(await pending()).toEqual([]);
  });

  it('rejects a price above --max-usd, and pays from a key of its own in a coin that clients know', async () => {
    const before = await balance();
    const dear = await pay([...buying, '--max-usd', '0.009999']);
    expect(dear).toMatchObject({
      code: 2,
      err: expect.stringContaining('--max-usd: the price is 0.01 USD, above the limit of 0.009999'),
    });
    const PRIVATE_KEY = service.infrastructure.demo!.wallets.buyer!.privateKey;
    expect(await balance()).toBe(before);
    const known = await pay(['premium', '--yes'], { environment: { ...environment, PRIVATE_KEY } });
    expect(known.code, known.err).toBe(0);
    expect(JSON.parse(known.out)).toMatchObject({ receipt: { primaryType: 'Receipt' } });
    expect(before - (await balance())).toBe(10_000n);
  });

  it('resends the same payment after a lost answer and pays once', async () => {
    const before = await balance();
    const seen: string[] = [];
    const url = await between((paid, _, response, pass) => {
      if (paid === undefined) return pass();
      seen.push(paid);
      if (seen.length > 1) return pass();
      // The service processes it, but the response is lost.
      const path = { headers: { 'payment-signature': paid } };
      httpRequest(`${server.url}/oracle/premium?horizon=7d`, path, (answer) => answer.resume().once('end', () => response.destroy())).end();
    });
    const { code, err } = await pay([...buying, '--url', url]);
    expect(code, err).toBe(0);
    expect(err).toContain('the same payment is sent again');
    expect(new Set(seen).size).toBe(1);
    expect(before - (await balance())).toBe(10_000n);
  });

  it('resumes an unfinished payment and signs no second one before it expires', async () => {
    const before = await balance();
    const seen: string[] = [];
    let isRefused = true;
    const problem = JSON.stringify({ code: 'PAYMENT_REQUIRED', detail: 'The payment was refused for now', suggestedAction: 'Wait.' });
    const url = await between((paid, _, response, pass) => {
      if (paid !== undefined) seen.push(paid);
      if (paid === undefined || !isRefused) return pass();
      response.writeHead(402, { 'content-type': 'application/problem+json' }).end(problem);
    });
    const refused = await pay([...buying, '--url', url]);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('PAYMENT_REQUIRED: The payment was refused for now') });
    expect(refused.err.replaceAll('\n', ' ')).toContain('the next call sends the same payment again');
    expect(await pending()).toHaveLength(1);
    isRefused = false;
    const again = await pay([...buying, '--url', url]);
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('is unfinished: the same payment is sent again');
    expect(new Set(seen).size).toBe(1);
    expect(before - (await balance())).toBe(10_000n);
    expect(await pending()).toEqual([]);
  });

  it('signs another payment only when the first has expired unused', async () => {
    const seen: string[] = [];
    let isRefused = true;
    const url = await between((paid, _, response, pass) => {
      if (paid !== undefined) seen.push(paid);
      if (paid === undefined || !isRefused) return pass();
      response
        .writeHead(402, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ code: 'PAYMENT_REQUIRED', detail: 'No' }));
    });
    // The clock of the client is behind, so the authorization has expired when the service receives it.
    const now = new Date(Date.now() - 3_600_000);
    expect(await pay([...buying, '--url', url], { now: () => now })).toMatchObject({ code: 1 });
    isRefused = false;
    const before = await balance();
    const again = await pay([...buying, '--url', url]);
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('It expired unused according to the chain. A new one is signed.');
    expect(new Set(seen).size).toBe(2);
    expect(before - (await balance())).toBe(10_000n);
  });

  it.each([
    ['another answer', (body: { confidence: number }) => ({ ...body, confidence: 0.99 }), 'its hash matches the answer'],
    ['a receipt of another seller', forged, 'the receipt is signed by the seller'],
    ['no receipt', (body: object) => ({ ...body, receipt: null }), 'a readable receipt is present'],
  ] as const)('prints %s, and ends with 1', async (_, change, broken) => {
    const url = await between((paid, request, response, pass) => {
      if (paid === undefined) return pass();
      const answering = httpRequest(`${server.url}${request.url}`, { headers: { 'payment-signature': paid } }, async (answer) => {
        const chunks = await answer.toArray();
        const body = JSON.parse(Buffer.concat(chunks).toString());
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(change(body as never)));
      });
      answering.end();
    });
    const { code, out, err } = await pay([...buying, '--url', url]);
    expect(code).toBe(1);
    expect(err).toContain(`NOT OK  ${broken}`);
    expect(JSON.parse(out)).toMatchObject({ payment: { amount: expect.any(String) } });
  });
});

it('prints an x402 receipt of another sale, and ends with 1', async () => {
  const url = await between((paid, request, response, pass) => {
    if (paid === undefined) return pass();
    httpRequest(`${server.url}${request.url}`, { headers: { 'payment-signature': paid } }, async (answer) => {
      const settlement = readHeader(String(answer.headers['payment-response']));
      settlement.extensions['offer-receipt'].info.receipt.payload.transaction = `0x${'0'.repeat(64)}`;
      response.writeHead(200, { 'content-type': 'application/json', 'payment-response': asHeader(settlement) });
      answer.pipe(response);
    }).end();
  });
  const { code, err } = await pay([...buying, '--url', url]);
  expect(code).toBe(1);
  expect(err).toMatch(/NOT OK +the x402 receipt is signed by the same seller\n +NOT OK +it names the same payer/);
});

function forged<Body extends { receipt: { signature: string } }>(body: Body): Body {
  const { signature } = body.receipt;
  // Same length and message, but another signer.
  return {
    ...body,
    receipt: { ...body.receipt, signature: `${signature.slice(0, 20)}${signature[20] === '0' ? '1' : '0'}${signature.slice(21)}` },
  };
}

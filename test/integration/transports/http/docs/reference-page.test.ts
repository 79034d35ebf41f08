import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

const require = createRequire(import.meta.url);

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(0, { PUBLIC_URL: 'https://oracle.test' });
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(served.url + path, { headers });

describe('the API reference page', () => {
  it.each(['/docs', '/docs/'])('is HTML at %s with a CSP that admits own scripts only', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/html');
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(/script-src 'self' 'sha256-[^']+';/);
    expect(policy).toContain("connect-src 'self' https://oracle.test;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe-eval');
  });

  it('loads all assets from this service', async () => {
    const html = await (await get('/docs')).text();
    const loaded = [...html.matchAll(/<(?:link rel="(?:icon|stylesheet)" href|script (?:type="module" )?src|img src)="([^"]*)"/g)].map(
      ([, url]) => `/${url}`,
    );
    expect(loaded).toEqual(
      expect.arrayContaining(['/docs/swagger-ui.css', '/docs/reference.css', '/docs/swagger-ui-bundle.js', '/icon.svg']),
    );
    for (const url of loaded) expect((await get(url)).status, url).toBe(200);
    expect(html).not.toMatch(/ on\w+=| style=/);
    expect(html.replaceAll(/<link rel="canonical"[^>]*>|<meta property="og:[^>]*>/g, '')).not.toMatch(/https?:\/\//);
  });

  it.each([
    ['swagger-ui.css', 'text/css'],
    ['swagger-ui-bundle.js', 'text/javascript'],
  ])('serves %s unmodified from the package, cacheable', async (file, type) => {
    const response = await get(`/docs/${file}`);
    expect(response.headers.get('content-type')).toContain(type);
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=[1-9]\d*$/);
    expect(await response.text()).toBe(await readFile(require.resolve(`swagger-ui-dist/${file}`), 'utf8'));
    const again = await get(`/docs/${file}`, { 'If-None-Match': response.headers.get('etag')! });
    expect(again.status).toBe(304);
  });

  it('serves no other files', async () => {
    for (const file of ['package.json', 'swagger-ui.js', 'index.html', '..%2Fpackage.json', '%2e%2e%2fpackage.json']) {
      const response = await get(`/docs/${file}`);
      expect(response.status, file).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'INPUT_INVALID', field: 'file' });
    }
  });
});

import { expect, it } from 'vitest';
import { createStartingApp } from '../../../../../src/http/server.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { createStartupProgress } from '../../../../../src/platform/progress.ts';
import { serveApp } from '../../../../support/http/serve.ts';

const log = createLog({ level: 'silent', secrets: [] });

it('serves the files that the page names as immutable, and no others', async () => {
  const served = await serveApp(createStartingApp({ log, publicUrl: 'http://127.0.0.1', setup: createStartupProgress() }));
  try {
    const page = await fetch(served.url, { headers: { accept: 'text/html' } });
    expect(page.headers.get('Cache-Control')).not.toContain('immutable');
    const paths = [...(await page.text()).matchAll(/(?:href|src)="(page\/[^"]+)"/g)].map(([, path]) => path);
    expect(paths).toHaveLength(2);
    for (const path of paths) {
      const response = await fetch(`${served.url}/${path}`, { headers: { 'accept-encoding': 'gzip, br' } });
      expect(response.status).toBe(200);
      expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('Content-Type')).toBe(`text/${path.endsWith('.js') ? 'javascript' : 'css'}; charset=utf-8`);
      expect(response.headers.get('Content-Encoding')).toBe('br');
    }
    expect((await fetch(`${served.url}/page/page-0000000000000000.js`)).status).toBe(404);
    for (const path of ['index.html', 'page-00.js', 'parts/main.js', '..%2Findex.html'])
      expect((await fetch(`${served.url}/page/${path}`)).status).toBeGreaterThanOrEqual(400);
  } finally {
    await served.close();
  }
});

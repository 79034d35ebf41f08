import { vi } from 'vitest';

/** Response of the service by path: JSON of a success, or a Response. */
export type Answering = (path: string, authorization: string | null) => unknown;

/** The browser globals that the state modules use; removed by `vi.unstubAllGlobals()`. */
export function stubPage(answering: Answering) {
  const page = { hidden: false, baseURI: 'http://service.example/', asked: [] as string[], reported: [] as unknown[], seen: () => {} };
  vi.stubGlobal('document', {
    baseURI: page.baseURI,
    get hidden() {
      return page.hidden;
    },
    addEventListener: (_type: string, listener: () => void) => {
      page.seen = listener;
    },
  });
  vi.stubGlobal('location', { search: '', href: page.baseURI });
  vi.stubGlobal('history', { replaceState: () => {} });
  vi.stubGlobal('reportError', (error: unknown) => page.reported.push(error));
  vi.stubGlobal('fetch', async (url: URL, { headers }: RequestInit) => {
    const path = url.href.replace(page.baseURI, '');
    page.asked.push(path);
    const answer = await answering(path, new Headers(headers).get('authorization'));
    return answer instanceof Response ? answer : Response.json(answer);
  });
  return page;
}

/** A problem document of the service. */
export function refusal(status: number, code: string, retryAfterSeconds?: number): Response {
  const headers = new Headers();
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
  return Response.json({ code, detail: `It says ${code}` }, { status, headers });
}

/** An empty sessionStorage. */
export function emptyStorage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as unknown as Storage;
}
